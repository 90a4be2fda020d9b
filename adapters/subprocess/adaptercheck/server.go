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

// server is the server of the checked clients: the simulated broker, or another server.
type server interface {
	// listen opens an address at which one client finds the server.
	listen() (address, error)
	// follow makes the server's time follow the real time, until the context ends.
	follow(context.Context)
	// lapse lets enough time pass for every lease to end.
	lapse()
	close() error
}

// address is one client's address for the server.
type address interface {
	urls() ([]string, error)
	// opened returns the number of connections so far. present returns the number of open ones.
	opened() int
	present() int
	// undone returns the number of the client's actions that may release something.
	undone() int
	// misspoken returns the error of a client that does not speak the server's protocol; nil if there is none.
	misspoken() error
	Close() error
}

// broker is the simulated broker. It implements server.
type broker struct{ *wire.Simulated }

func (b broker) listen() (address, error) {
	s, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: b.Simulated})
	return brokerAddress{s}, err
}

func (b broker) follow(ctx context.Context) { b.FollowClock(ctx) }
func (broker) lapse()                       {} // nothing to do: a client's holds end with its connections
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

// gated is a server that could stand behind a gate. Here its gate lets everything pass at once.
type gated struct {
	gate.Server
	mu    sync.Mutex // guards the server's time
	ended bool
}

func (s *gated) listen() (address, error) {
	a := new(gatedAddress)
	var err error
	a.Address, err = s.Listen(a, gate.Limits{Connections: mostOfChecked, Handshake: DefaultLimit})
	return a, err
}

// mostOfChecked is the maximum number of simultaneous connections of a checked client.
const mostOfChecked = 256

// tick is the time between two advances of the server's clock.
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

// longest is the maximum time that a lock may stay held after its holder has ended.
const longest = 25 * time.Minute

func (s *gated) lapse() { s.pass(longest) }

func (s *gated) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.Close()
}

// gatedAddress is one client's address for a gated server. It is also the gate, and lets everything pass at once.
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

// undone returns the number of commands, without those that close a connection.
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

// Opened counts a connection.
func (a *gatedAddress) Opened(gate.Conn) { a.is(1) }

// Arrived lets the command pass.
func (*gatedAddress) Arrived(c gate.Command) { c.Pass() }

// Answered sends the answer on to the client.
func (*gatedAddress) Answered(answer gate.Answer) { answer.Send(false) }

// ClientGone tells the server that the client's connection has ended.
func (a *gatedAddress) ClientGone(c gate.Conn, err error) {
	c.Release()
	a.is(-1)
	if errors.Is(err, gate.ErrProtocol) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wrong = err
	}
}

// ServerGone tells the client that the server's connection has ended.
func (*gatedAddress) ServerGone(c gate.Conn) { c.HangUp() }
