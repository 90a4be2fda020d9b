package nemesis

import (
	"io"
	"net"
	"sync"

	"github.com/lockproof/lockproof/adapters/acceptor"
)

// Outside is the number of what is no node.
const Outside = -1

// Link carries the connections that nodes open to one of them.
type Link struct {
	network  *Network
	from     func(net.Addr) int // which node opens a connection, by the address that it comes from
	to       int
	target   string // where that node takes connections
	acceptor *acceptor.Acceptor
}

// Listen begins to carry connections from one node to another, which listens at target.
func (n *Network) Listen(from, to int, target string) (*Link, error) {
	return n.ListenFor(func(net.Addr) int { return from }, to, target)
}

// ListenFor begins to carry connections of all nodes to one, which listens at target. from says which node a connection is of, by
// the address that it comes from, or that it is of none, [Outside].
func (n *Network) ListenFor(from func(net.Addr) int, to int, target string) (*Link, error) {
	a, err := acceptor.Listen()
	if err != nil {
		return nil, err
	}
	l := &Link{network: n, from: from, to: to, target: target, acceptor: a}
	a.Serve(l.carry)
	return l, nil
}

// Port is where the node that opens connections finds the other one.
func (l *Link) Port() int { return l.acceptor.Addr().Port }

// carry joins a connection with one to the other node. A connection is open when messages have gone both ways.
func (l *Link) carry(near net.Conn) {
	from := l.from(near.RemoteAddr())
	if !l.network.await(from, l.to) || !l.network.await(l.to, from) {
		return
	}
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		return // the other node is down, which this one sees
	}
	defer l.acceptor.Forget(far)
	if !l.acceptor.Keep(far) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.pass(near, far, from, l.to) })
	both.Go(func() { l.pass(far, near, l.to, from) })
	both.Wait()
}

// pass passes on what one node sends to another, its end as well. A silenced direction is not
// read on, so that its sender's buffers fill.
func (l *Link) pass(in, out net.Conn, from, to int) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := in.Read(buffer)
		if !l.network.await(from, to) {
			return
		}
		if n > 0 {
			if _, failed := out.Write(buffer[:n]); failed != nil {
				_ = in.Close()
				return
			}
		}
		if err == io.EOF {
			_ = out.(*net.TCPConn).CloseWrite()
			return
		}
		if err != nil {
			_ = out.Close()
			return
		}
	}
}

// Close ends all connections. The network has to be closed before.
func (l *Link) Close() { _ = l.acceptor.Close() }
