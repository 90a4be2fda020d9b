package cluster

import (
	"io"
	"net"
	"sync"
)

// link carries the connections that one node opens to another.
type link struct {
	network  *network
	from, to int
	target   string // where the other node takes connections
	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool
	work  sync.WaitGroup
}

// listen begins to carry connections from one node to another, which listens at target.
func (n *network) listen(from, to int, target string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{network: n, from: from, to: to, target: target, listener: listener, conns: make(map[net.Conn]bool)}
	l.work.Go(l.accept)
	return l, nil
}

// port is where the node that opens connections finds the other one.
func (l *link) port() int { return l.listener.Addr().(*net.TCPAddr).Port }

func (l *link) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.work.Go(func() { l.carry(conn) })
	}
}

// carry joins a connection with one to the other node. A connection is open when messages have gone both ways.
func (l *link) carry(near net.Conn) {
	defer l.forget(near)
	if !l.keep(near) || !l.network.await(l.from, l.to) || !l.network.await(l.to, l.from) {
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
	both.Go(func() { l.pass(near, far, l.from, l.to) })
	both.Go(func() { l.pass(far, near, l.to, l.from) })
	both.Wait()
}

// pass passes on what one node sends to another, its end as well. A silenced direction is not
// read on, so that its sender's buffers fill.
func (l *link) pass(in, out net.Conn, from, to int) {
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
func (l *link) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.conns[conn] = true
	}
	return !l.over
}

func (l *link) forget(conn net.Conn) {
	_ = conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// close ends all connections. The network has to be closed before.
func (l *link) close() {
	_ = l.listener.Close()
	l.mu.Lock()
	l.over = true
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.work.Wait()
}
