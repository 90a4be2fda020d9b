package gatetest

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// Open is a gate that is open: everything passes at once.
type Open struct{}

var _ gate.Gate = Open{}

// Opened does nothing.
func (Open) Opened(gate.Conn) {}

// Arrived lets a command pass.
func (Open) Arrived(c gate.Command) { c.Pass() }

// Answered sends an answer.
func (Open) Answered(a gate.Answer) { a.Send(false) }

// ClientGone tells the server.
func (Open) ClientGone(c gate.Conn, _ error) { c.Release() }

// ServerGone tells the client.
func (Open) ServerGone(c gate.Conn) { c.HangUp() }

// URL is where a client finds a server behind an open gate, until the test ends.
func URL(t *testing.T, s gate.Server) string {
	t.Helper()
	a, err := s.Listen(Open{}, gate.Limits{Connections: 100, Handshake: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	urls, err := a.URLs()
	if err != nil {
		t.Fatal(err)
	}
	return urls[0]
}
