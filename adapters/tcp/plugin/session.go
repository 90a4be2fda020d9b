package plugin

import (
	"math"
	"strconv"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// protocol implements [stream.Protocol] and [stream.Unknown] for an unknown protocol.
type protocol struct{}

// Session returns the parser for a new connection.
func (protocol) Session() stream.Session { return &session{began: time.Now()} }

// Shown returns a function that describes a command in words.
func (protocol) Shown(command []byte) func(*stream.Names) string { return shown(command) }

var _ stream.Unknown = protocol{}

// session is the parser for one client's connection.
type session struct {
	began time.Time
	said  bool // the server has sent something
}

// Command returns all bytes that have arrived as one command. If a command of the connection already waits at the
// gate, the bytes are added to that command.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	return stream.Sent{
		Name: "bytes", Replies: true, MayChange: true, Access: backend.Opaque, Words: shown(b),
	}, len(b), nil
}

// Reply returns all bytes that have arrived as one reply, which answers all commands without an answer.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	s.said = true
	return stream.Said{Words: shown(b)}, len(b), math.MaxInt, nil
}

// greets is how long a new connection waits for the server to send first.
const greets = 20 * time.Millisecond

// Greets reports whether the server may be about to send first.
func (s *session) Greets() bool { return !s.said && time.Since(s.began) < greets }

// Listens returns true, since the server may send something at any time.
func (s *session) Listens() bool { return true }

// bytesShown is the maximum number of bytes shown of a command or an answer.
const bytesShown = 80

// shown returns a function that returns the bytes as text, in the form for traces.
func shown(b []byte) func(*stream.Names) string {
	end := ""
	if len(b) > bytesShown {
		b, end = b[:bytesShown], "…"
	}
	text := string(b) // a copy, since b is reused
	return func(n *stream.Names) string { return strconv.QuoteToGraphic(n.Item(text)) + end }
}
