package postgres

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// protocol is the protocol between PostgreSQL and its clients.
type protocol struct{}

// Session returns the parser for a new connection.
func (protocol) Session() stream.Session {
	return &session{statements: make(map[string]statement.Statement), portals: make(map[string]portal)}
}

// session is the parser for one client's connection.
type session struct {
	started    bool // the client has sent its startup message
	listens    bool
	failed     bool // a command that ended with Flush has failed, so the server ignores everything until Sync
	statements map[string]statement.Statement
	portals    map[string]portal
	sent       []awaited // commands without a reply
}

// awaited is a reply that the server still has to send to a command.
type awaited struct {
	name  string
	kind  end
	count int // only for flushed: the number of messages in the reply, one for each message of the command
}

// end is what ends a reply.
type end uint8

const (
	ready   end = iota // the message ReadyForQuery
	letter             // one letter, which says whether the server encrypts
	flushed            // the last of count messages, or an error
)

// portal is a prepared statement with the values of its parameters.
type portal struct {
	statement statement.Statement
	values    []string
}

func (p portal) shown(n *stream.Names) string { return p.statement.Shown(p.values, n) }

// mostKept is the maximum number of prepared statements, and of portals, of a connection.
const mostKept = 1 << 10

// Command parses the first command of b, which is what the client has sent.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	if !s.started {
		return s.start(b)
	}
	kind, body, n, err := readMessage(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	switch kind {
	case 'Q':
		f := fields{rest: body}
		return s.await(portal{statement: statement.Read(f.text(), statement.Postgres)}), n, nil
	case 'X':
		return stream.Sent{Name: "Terminate", Role: gate.Closes, Words: constant("Terminate")}, n, nil
	case 'p', 'd', 'c', 'f': // the server has not asked for these messages
		return stream.Sent{Name: "nothing", Passes: true, Words: constant("")}, n, nil
	}
	return s.extended(b)
}

// constant returns a function that returns text, for [stream.Sent.Words] of a command whose words are always the same.
func constant(text string) func(*stream.Names) string {
	return func(*stream.Names) string { return text }
}

// Codes in a client's first message, which begins a connection.
const (
	codeCancel  = 80877102
	codeSSL     = 80877103
	codeGSS     = 80877104
	version3    = 3
	versionBits = 16
)

// start parses a client's first message.
func (s *session) start(b []byte) (c stream.Sent, n int, err error) {
	body, n, err := readBody(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	if len(body) < 4 {
		return c, 0, errProtocol
	}
	c = stream.Sent{Name: "Startup", Passes: true, Replies: true, Words: constant("Startup")}
	switch code := binary.BigEndian.Uint32(body); {
	case code == codeSSL || code == codeGSS:
		s.sent = append(s.sent, awaited{kind: letter})
	case code == codeCancel:
		c.Name, c.Replies = "Cancel", false
	case code>>versionBits == version3:
		s.started = true
		s.sent = append(s.sent, awaited{})
	default:
		return c, 0, fmt.Errorf("%w: version %d.%d", errProtocol, code>>versionBits, code&(1<<versionBits-1))
	}
	return c, n, nil
}

// await returns the command that carries out the given portals, and records that a reply is due.
func (s *session) await(all ...portal) stream.Sent {
	name, passes, changes := "Parse", true, false
	var first statement.Statement
	for i, p := range all {
		if i == 0 {
			name, first = p.statement.Name(), p.statement
		}
		passes, changes = passes && p.statement.Passes(), changes || !p.statement.Reads()
		s.listens = s.listens || p.statement.Name() == "LISTEN"
	}
	s.sent = append(s.sent, awaited{name: name})
	return stream.Sent{
		Name: name, Replies: true, Passes: passes, MayChange: changes, Key: first.Table(), Access: first.Access(),
		Words: func(n *stream.Names) string {
			var words []string
			for _, p := range all {
				words = append(words, p.shown(n))
			}
			return strings.Join(words, "; ")
		},
	}
}

// extended parses the messages up to Sync or Flush as one command.
func (s *session) extended(b []byte) (c stream.Sent, n int, err error) {
	last, n, err := whole(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	var runs []portal
	count := 0
	for rest := b[:n]; len(rest) > 0; {
		kind, body, m, _ := readMessage(rest) // no error, since whole has checked the messages
		rest = rest[m:]
		switch kind {
		case 'P', 'B', 'C', 'D', 'E':
			count++
		}
		p, executed, err := s.take(kind, body)
		if err != nil {
			return c, 0, err
		}
		if executed {
			runs = append(runs, p)
		}
	}
	c = s.await(runs...)
	if last == 'H' {
		now := &s.sent[len(s.sent)-1]
		now.kind, now.count = flushed, count
		if c.Replies = count > 0 && !s.failed; !c.Replies {
			s.sent = s.sent[:len(s.sent)-1]
		}
	}
	return c, n, nil
}

// whole finds the first message that ends a command: Sync, Flush or a call of a function. last is its kind, and n the length
// of all messages up to and including it; n is 0 if it has not come yet.
func whole(b []byte) (last byte, n int, err error) {
	for {
		kind, _, m, err := readMessage(b[n:])
		if err != nil || m == 0 {
			return 0, 0, err
		}
		n += m
		switch kind {
		case 'S', 'H', 'F': // a call of a function is a command as well
			return kind, n, nil
		case 'P', 'B', 'C', 'D', 'E':
		default:
			return 0, 0, fmt.Errorf("%w: the client sends %q within a command", errProtocol, kind)
		}
	}
}

// take handles a message of the extended protocol. executed reports whether the message carries out a portal or calls a
// function. If so, p is the portal, or the statement CALL for a function.
func (s *session) take(kind byte, body []byte) (p portal, executed bool, err error) {
	f := fields{rest: body}
	switch kind {
	case 'P':
		name := f.text()
		s.statements[name] = statement.Read(f.text(), statement.Postgres)
	case 'B':
		name, of := f.text(), f.text()
		for range f.int16() { // skips the formats of the values
			_ = f.int16()
		}
		s.portals[name] = portal{s.statements[of], f.values()}
	case 'E':
		p, executed = s.portals[f.text()], true
	case 'F': // a function call, which names the function by number only
		p, executed = portal{statement: statement.Read("CALL", statement.Postgres)}, true
	case 'C':
		if what := f.take(1); len(what) == 1 && what[0] == 'S' {
			delete(s.statements, f.text())
		} else {
			delete(s.portals, f.text())
		}
	}
	if f.short {
		return p, false, fmt.Errorf("%w: a message %q is too short", errProtocol, kind)
	}
	if len(s.statements) > mostKept || len(s.portals) > mostKept {
		return p, false, fmt.Errorf("%w: more than %d prepared statements", gate.ErrExcess, mostKept)
	}
	return p, executed, nil
}

// Greets returns false, since the client sends first.
func (s *session) Greets() bool { return false }

// Listens reports whether the client has asked for notifications.
func (s *session) Listens() bool { return s.listens }
