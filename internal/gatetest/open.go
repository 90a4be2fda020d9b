package gatetest

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// Open is a gate that lets everything pass at once.
type Open struct{}

var _ gate.Gate = Open{}

// Opened implements [gate.Gate]; it does nothing.
func (Open) Opened(gate.Conn) {}

// Arrived lets the command pass to the server.
func (Open) Arrived(c gate.Command) { c.Pass() }

// Answered sends the answer on to the client.
func (Open) Answered(a gate.Answer) { a.Send(false) }

// ClientGone tells the server that the client's connection has ended.
func (Open) ClientGone(c gate.Conn, _ error) { c.Release() }

// ServerGone tells the client that the server's connection has ended.
func (Open) ServerGone(c gate.Conn) { c.HangUp() }

// URL starts listening for clients of server s, behind a gate that lets everything pass. It returns the address,
// which is valid until the test ends.
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
