package nemesis

import (
	"io"
	"net"
	"sync"

	"github.com/lockproof/lockproof/adapters/acceptor"
)

// Outside is the number for an address that belongs to no node.
const Outside = -1

// Link forwards the connections that nodes open to one node.
type Link struct {
	network  *Network
	from     func(net.Addr) int // returns the node that opened a connection, given the connection's address
	to       int
	target   string // address at which the receiving node accepts connections
	acceptor *acceptor.Acceptor
}

// Listen begins to forward connections from one node to another, which listens at target.
func (n *Network) Listen(from, to int, target string) (*Link, error) {
	return n.ListenFor(func(net.Addr) int { return from }, to, target)
}

// ListenFor begins to forward connections from any node to node to, which listens at target. from returns the node that
// opens a connection, given the connection's address, or [Outside].
func (n *Network) ListenFor(from func(net.Addr) int, to int, target string) (*Link, error) {
	a, err := acceptor.Listen()
	if err != nil {
		return nil, err
	}
	l := &Link{network: n, from: from, to: to, target: target, acceptor: a}
	a.Serve(l.carry)
	return l, nil
}

// Port returns the port at which nodes reach the node behind the link.
func (l *Link) Port() int { return l.acceptor.Addr().Port }

// carry forwards one connection to the receiving node. Before it connects, it waits until the network is cut in neither
// direction.
func (l *Link) carry(near net.Conn) {
	from := l.from(near.RemoteAddr())
	if !l.network.await(from, l.to) || !l.network.await(l.to, from) {
		return
	}
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		return // the receiving node is down; closing the connection shows that to the other node
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

// pass forwards what one node sends to another, and the end of the stream. It stops reading while the direction is silenced,
// so that the sender's buffers fill.
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

// Close ends all connections. The network must be closed before.
func (l *Link) Close() { _ = l.acceptor.Close() }
