package stream

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/socket"
)

// Upstream is the server behind a proxy.
type Upstream interface {
	// Dial opens a connection to the server. id is the server's number for it.
	Dial() (conn net.Conn, id int64, err error)
	// Waits reports whether the server keeps the last command of connection id waiting. The gate calls it repeatedly
	// until there is a reply.
	Waits(id int64) (bool, error)
	// Barrier waits until the server has reacted to everything that has happened so far, and has sent its messages.
	Barrier() error
	// Kill ends connection id at the server. When it returns, the server has seen the end.
	Kill(id int64) error
}

// Proxy accepts the connections of clients to one server, and makes their commands wait at a gate. It is safe for concurrent
// use.
type Proxy struct {
	protocol Protocol
	up       Upstream
	place    int // index of the server, if there are several

	mu    sync.Mutex
	names *Names
	conns map[*Conn]struct{} // connections of which at least one end is open
}

// NewProxy returns a proxy for server up. place is the server's index, if there are several.
func NewProxy(p Protocol, up Upstream, place int) *Proxy {
	return &Proxy{protocol: p, up: up, place: place, names: NewNames(""), conns: make(map[*Conn]struct{})}
}

// Begin begins a run. Traces of the run use the names n.
func (p *Proxy) Begin(n *Names) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = n
}

// Names returns the names that traces of the current run use.
func (p *Proxy) Names() *Names {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names
}

// Settle waits until the server has reacted to everything that has happened so far, and the gate has received
// everything that the server has sent to any client.
func (p *Proxy) Settle() error {
	listening := p.listening()
	if len(listening) == 0 {
		return nil
	}
	if err := p.up.Barrier(); err != nil {
		return err
	}
	for _, c := range listening {
		c.caughtUp()
	}
	return nil
}

// listening returns the connections on which the server may still send something.
func (p *Proxy) listening() (all []*Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if c.listens() {
			all = append(all, c)
		}
	}
	return all
}

// Listen opens an address for one client.
func (p *Proxy) Listen(g gate.Gate, l gate.Limits, url func(host string) string) (*Address, error) {
	listener, err := socket.Listen()
	if err != nil {
		return nil, fmt.Errorf("taking connections: %w", err)
	}
	a := &Address{proxy: p, gate: g, limits: l, listener: listener, url: url(listener.Addr().String()), conns: make(map[*Conn]struct{})}
	a.tasks.Go(a.accept)
	return a, nil
}

// Address is one client's address for one server, with its connections.
type Address struct {
	proxy    *Proxy
	gate     gate.Gate
	limits   gate.Limits
	listener *socket.Listener
	url      string
	tasks    sync.WaitGroup

	mu     sync.Mutex
	conns  map[*Conn]struct{}
	counts gate.Counts
	closed bool
}

// Addresses are one client's addresses, one for each of several servers.
type Addresses []*Address

var _ gate.Watched = Addresses(nil)

// URLs returns the addresses in the form that clients expect.
func (all Addresses) URLs() (urls []string, _ error) {
	for _, a := range all {
		urls = append(urls, a.url)
	}
	return urls, nil
}

// Underway implements [gate.Watched].
func (all Addresses) Underway() bool { return slices.ContainsFunc(all, (*Address).underway) }

// underway reports whether a connection is being made, or a command that passes by itself has no reply yet.
func (a *Address) underway() bool {
	if a.listener.Underway() {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.conns {
		if c.underway() {
			return true
		}
	}
	return false
}

// Counts returns what has gone over all connections of the client.
func (all Addresses) Counts() (sum gate.Counts) {
	for _, a := range all {
		counts := a.Counts()
		sum.Add(&counts)
	}
	return sum
}

// Close ends all connections of the client.
func (all Addresses) Close() error {
	var errs []error
	for _, a := range all {
		errs = append(errs, a.Close())
	}
	return errors.Join(errs...)
}

// Counts counts what has gone over the address's connections.
func (a *Address) Counts() gate.Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	counts := a.counts
	counts.Commands = maps.Clone(counts.Commands)
	return counts
}

// count calls change with the address's counts, while a lock is held.
func (a *Address) count(change func(*gate.Counts)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.counts)
}

// Close ends all connections abruptly, and tells the server. It returns when all goroutines have ended.
func (a *Address) Close() error {
	a.mu.Lock()
	a.closed = true
	var conns []*Conn
	for c := range a.conns {
		conns = append(conns, c)
	}
	a.mu.Unlock()
	err := a.listener.Close()
	for _, c := range conns {
		c.Cut()
		c.Release()
	}
	a.tasks.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// acceptPause is the pause after accepting a connection has failed.
const acceptPause = 10 * time.Millisecond

func (a *Address) accept() {
	for {
		socket, err := a.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example too many open files
			time.Sleep(acceptPause)
			continue
		}
		a.take(socket)
	}
}

// take begins to serve a connection. If the client has too many connections, or the server accepts no more, it closes
// the connection.
func (a *Address) take(socket net.Conn) {
	up, id, err := a.proxy.up.Dial()
	if err != nil {
		socket.Close()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.conns) >= a.limits.Connections {
		socket.Close()
		up.Close()
		return
	}
	c := newConn(a, socket, up, id)
	a.conns[c] = struct{}{}
	a.counts.Opened++
	a.proxy.mu.Lock()
	a.proxy.conns[c] = struct{}{}
	a.proxy.mu.Unlock()
	a.tasks.Go(c.serve)
}

// forget removes a connection whose ends are both closed.
func (a *Address) forget(c *Conn) {
	a.mu.Lock()
	delete(a.conns, c)
	a.mu.Unlock()
	a.proxy.mu.Lock()
	delete(a.proxy.conns, c)
	a.proxy.mu.Unlock()
}
