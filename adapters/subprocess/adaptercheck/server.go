package adaptercheck

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate"
)

// server is what the clients of a walk use: the simulated broker, or another server of ours.
type server interface {
	// listen opens an address for one client.
	listen() (address, error)
	// follow has the server's time go as ours does, until the context ends.
	follow(context.Context)
	// lapse lets so much time pass that every lease is over.
	lapse()
	close() error
}

// address is where one client finds the server.
type address interface {
	urls() ([]string, error)
	// opened is how many connections there have been, and present how many there are.
	opened() int
	present() int
	// undone is how much the client has done that may give something back.
	undone() int
	// misspoken is that the client speaks another protocol than the server; nil while it does not.
	misspoken() error
	Close() error
}

// broker is the simulated broker.
type broker struct{ *wire.Simulated }

func (b broker) listen() (address, error) {
	s, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: b.Simulated})
	return brokerAddress{s}, err
}

func (b broker) follow(ctx context.Context) { b.FollowClock(ctx) }
func (broker) lapse()                       {} // what its clients have is gone with them
func (broker) close() error                 { return nil }

type brokerAddress struct{ *wire.Server }

func (a brokerAddress) urls() ([]string, error) { return []string{a.URL()}, nil }
func (a brokerAddress) present() int            { return a.Present() }
func (brokerAddress) misspoken() error          { return nil }

func (a brokerAddress) opened() int {
	counts := a.Counts()
	return counts.Opened
}

func (a brokerAddress) undone() int {
	counts := a.Counts()
	return counts.Method(frame.QueueDeleteID).Received
}

// gated is a server that can stand behind a gate. Here the gate is open.
type gated struct {
	gate.Server
	mu    sync.Mutex // of its time
	ended bool
}

func (s *gated) listen() (address, error) {
	a := new(gatedAddress)
	var err error
	a.Address, err = s.Listen(a, gate.Limits{Connections: mostOfChecked, Handshake: DefaultLimit})
	return a, err
}

// mostOfChecked is how many connections a checked client may have at once.
const mostOfChecked = 256

// tick is how often the server's time goes on.
const tick = 10 * time.Millisecond

func (s *gated) follow(ctx context.Context) {
	for ticks := time.NewTicker(tick); ; {
		select {
		case <-ticks.C:
			s.pass(tick)
		case <-ctx.Done():
			ticks.Stop()
			return
		}
	}
}

func (s *gated) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.Advance(d.Milliseconds())
	}
}

// longest is how long a lock may go on after the end of its holder.
const longest = 25 * time.Minute

func (s *gated) lapse() { s.pass(longest) }

func (s *gated) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.Close()
}

// gatedAddress is where a client finds such a server, and the gate through which everything passes at once.
type gatedAddress struct {
	gate.Address
	mu    sync.Mutex
	there int
	wrong error
}

var _ gate.Gate = (*gatedAddress)(nil)

func (a *gatedAddress) urls() ([]string, error) { return a.URLs() }
func (a *gatedAddress) opened() int             { return a.Counts().Opened }

func (a *gatedAddress) present() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.there
}

func (a *gatedAddress) misspoken() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wrong
}

// undone is how many commands there were that say no goodbye.
func (a *gatedAddress) undone() (n int) {
	for name, sent := range a.Counts().Commands {
		if !strings.EqualFold(name, "QUIT") {
			n += sent
		}
	}
	return n
}

func (a *gatedAddress) is(more int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.there += more
}

// Opened notes a connection.
func (a *gatedAddress) Opened(gate.Conn) { a.is(1) }

// Arrived lets a command pass.
func (*gatedAddress) Arrived(c gate.Command) { c.Pass() }

// Answered sends an answer.
func (*gatedAddress) Answered(answer gate.Answer) { answer.Send(false) }

// ClientGone has the server know.
func (a *gatedAddress) ClientGone(c gate.Conn, err error) {
	c.Release()
	a.is(-1)
	if errors.Is(err, gate.ErrProtocol) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wrong = err
	}
}

// ServerGone has the client know.
func (*gatedAddress) ServerGone(c gate.Conn) { c.HangUp() }
