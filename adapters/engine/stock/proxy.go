package stock

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// jitter is by how much a command may be late.
const jitter = 5 * time.Millisecond

// proxy passes what clients send to a server, each write of theirs late by up to jitter, and what the server says at once.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once it is closed
	work  sync.WaitGroup
}

// listen opens a proxy in front of a port of this machine.
func listen(port int) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, to: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), conns: make(map[net.Conn]bool)}
	p.work.Go(p.accept)
	return p, nil
}

// accept takes connections until the proxy is closed.
func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = c.Close()
			continue
		}
		if !p.keep(c) || !p.keep(server) {
			_, _ = c.Close(), server.Close()
			return
		}
		p.work.Go(func() { p.pass(server, c, jitter) })
		p.work.Go(func() { p.pass(c, server, 0) })
	}
}

// keep notes a connection, and is false once the proxy is closed.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[c] = true
	return true
}

// pass passes what is read on to a connection until either ends, and ends the other.
func (p *proxy) pass(to, from net.Conn, late time.Duration) {
	defer func() {
		_, _ = to.Close(), from.Close()
		p.mu.Lock()
		delete(p.conns, from)
		p.mu.Unlock()
	}()
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
func (p *proxy) close() error {
	err := p.listener.Close()
	p.mu.Lock()
	for c := range p.conns {
		err = errors.Join(err, ignoreClosed(c.Close()))
	}
	p.conns = nil
	p.mu.Unlock()
	p.work.Wait()
	return err
}

// ignoreClosed is the error of closing what may be closed already.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
