package stock

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/acceptor"
)

// jitter is the maximum random delay of a command.
const jitter = 5 * time.Millisecond

// proxy forwards connections to a server. It delays everything that clients send by up to jitter, and forwards the
// server's output at once.
type proxy struct {
	acceptor *acceptor.Acceptor
	to       string
}

// listen opens a proxy in front of a port of this machine.
func listen(port int) (*proxy, error) {
	a, err := acceptor.Listen()
	if err != nil {
		return nil, err
	}
	p := &proxy{acceptor: a, to: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	a.Serve(p.carry)
	return p, nil
}

// carry forwards one connection until it ends.
func (p *proxy) carry(client net.Conn) {
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer p.acceptor.Forget(server)
	if !p.acceptor.Keep(server) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pass(server, client, jitter) })
	both.Go(func() { pass(client, server, 0) })
	both.Wait()
}

// pass forwards data from one connection to another. It delays each piece randomly by less than late; 0 means no delay.
// When either connection ends, it closes both.
func pass(to, from net.Conn, late time.Duration) {
	defer func() { _, _ = to.Close(), from.Close() }()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if late > 0 && n > 0 {
			time.Sleep(rand.N(late))
		}
		if _, wrong := to.Write(b[:n]); err != nil || wrong != nil {
			return
		}
	}
}

// close ends the proxy and its connections.
func (p *proxy) close() error { return p.acceptor.Close() }
