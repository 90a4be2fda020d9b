package plugin

import (
	"math"
	"strconv"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/model/backend"
)

// protocol is any.
type protocol struct{}

// Session begins a connection.
func (protocol) Session() stream.Session { return &session{began: time.Now()} }

// Shown are the words of a command.
func (protocol) Shown(command []byte) func(*stream.Names) string { return shown(command) }

var _ stream.Unknown = protocol{}

// session is a connection.
type session struct {
	began time.Time
	said  bool // the server has said something
}

// Command takes all that has come. It belongs to a command that is at the gate already, if there is one.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	return stream.Sent{
		Name: "bytes", Replies: true, MayChange: true, Access: backend.Opaque, Words: shown(b),
	}, len(b), nil
}

// Reply takes all that has come. It answers whatever has no answer.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	s.said = true
	return stream.Said{Words: shown(b)}, len(b), math.MaxInt, nil
}

// greets is how long a new connection is given for a server that speaks first.
const greets = 20 * time.Millisecond

// Greets reports whether the server may be about to speak first.
func (s *session) Greets() bool { return !s.said && time.Since(s.began) < greets }

// Listens is true: whatever a server says is possible.
func (s *session) Listens() bool { return true }

// bytesShown is how many bytes of a command or an answer are shown.
const bytesShown = 80

// shown is what was written, as traces have it.
func shown(b []byte) func(*stream.Names) string {
	end := ""
	if len(b) > bytesShown {
		b, end = b[:bytesShown], "…"
	}
	text := string(b) // a copy
	return func(n *stream.Names) string { return strconv.QuoteToGraphic(n.Item(text)) + end }
}
