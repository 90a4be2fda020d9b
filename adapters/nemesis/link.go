package nemesis

import (
	"io"
	"net"
	"sync"
)

// Outside is the number of what is no node.
const Outside = -1

// Link carries the connections that nodes open to one of them.
type Link struct {
	network  *Network
	from     func(net.Addr) int // which node opens a connection, by the address that it comes from
	to       int
	target   string // where that node takes connections
	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool
	work  sync.WaitGroup
}

// Listen begins to carry connections from one node to another, which listens at target.
func (n *Network) Listen(from, to int, target string) (*Link, error) {
	return n.ListenFor(func(net.Addr) int { return from }, to, target)
}

// ListenFor begins to carry connections of all nodes to one, which listens at target. from says which node a connection is of, by
// the address that it comes from, or that it is of none, [Outside].
func (n *Network) ListenFor(from func(net.Addr) int, to int, target string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{network: n, from: from, to: to, target: target, listener: listener, conns: make(map[net.Conn]bool)}
	l.work.Go(l.accept)
	return l, nil
}

// Port is where the node that opens connections finds the other one.
func (l *Link) Port() int { return l.listener.Addr().(*net.TCPAddr).Port }

func (l *Link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.work.Go(func() { l.carry(conn) })
	}
}

// carry joins a connection with one to the other node. A connection is open when messages have gone both ways.
func (l *Link) carry(near net.Conn) {
	defer l.forget(near)
	from := l.from(near.RemoteAddr())
	if !l.keep(near) || !l.network.await(from, l.to) || !l.network.await(l.to, from) {
		return
	}
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		return // the other node is down, which this one sees
	}
	defer l.forget(far)
	if !l.keep(far) {
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

// keep notes a connection, to close it at the end. It is false when the end has come.
func (l *Link) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.conns[conn] = true
	}
	return !l.over
}

func (l *Link) forget(conn net.Conn) {
	_ = conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// Close ends all connections. The network has to be closed before.
func (l *Link) Close() {
	_ = l.listener.Close()
	l.mu.Lock()
	l.over = true
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.work.Wait()
}
