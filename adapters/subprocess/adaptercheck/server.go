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

// server is the server of the checked clients: the simulated broker, or another server of ours.
type server interface {
	// listen opens an address for one client.
	listen() (address, error)
	// follow makes the server's time follow the real time, until the context ends.
	follow(context.Context)
	// lapse lets enough time pass for every lease to end.
	lapse()
	close() error
}

// address is where one client finds the server.
type address interface {
	urls() ([]string, error)
	// opened is the number of connections so far, and present is the number of open ones.
	opened() int
	present() int
	// undone is the number of actions of the client that may release something.
	undone() int
	// misspoken is the error of a client that speaks another protocol than the server, or nil.
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
func (broker) lapse()                       {} // its clients' holds end with them
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
	mu    sync.Mutex // for its time
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

// longest is the maximum time that a lock may persist after the end of its holder.
const longest = 25 * time.Minute

func (s *gated) lapse() { s.pass(longest) }

func (s *gated) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.Close()
}

// gatedAddress is where a client finds a gated server. It is also the gate, through which everything passes at once.
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

// undone is the number of commands other than those that close a connection.
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

// ClientGone lets the server see the end.
func (a *gatedAddress) ClientGone(c gate.Conn, err error) {
	c.Release()
	a.is(-1)
	if errors.Is(err, gate.ErrProtocol) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wrong = err
	}
}

// ServerGone lets the client see the end.
func (*gatedAddress) ServerGone(c gate.Conn) { c.HangUp() }
