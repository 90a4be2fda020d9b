package postgres

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// protocol is how clients of PostgreSQL talk.
type protocol struct{}

// Session begins a connection.
func (protocol) Session() stream.Session {
	return &session{statements: make(map[string]statement.Statement), portals: make(map[string]portal)}
}

// session is a connection.
type session struct {
	started    bool // it has said who it is
	listens    bool
	failed     bool // what is behind Flush has failed, so that the server takes notice of Sync alone
	statements map[string]statement.Statement
	portals    map[string]portal
	sent       []awaited // commands without a reply
}

// awaited is the reply to a command.
type awaited struct {
	name  string
	kind  end
	count int // of messages that end something, for flushed
}

// end is how a reply ends.
type end uint8

const (
	ready   end = iota // with ReadyForQuery
	letter             // it is a letter: the answer to whether the server encrypts
	flushed            // with as many messages as were asked for, or an error
)

// portal is a statement with the values of its parameters.
type portal struct {
	statement statement.Statement
	values    []string
}

func (p portal) shown(n *stream.Names) string { return p.statement.Shown(p.values, n) }

// mostKept is how many prepared statements, and how many portals, a connection may have.
const mostKept = 1 << 10

// Command cuts off a command.
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
	case 'p', 'd', 'c', 'f': // nobody asks for those
		return stream.Sent{Name: "nothing", Passes: true, Words: constant("")}, n, nil
	}
	return s.extended(b)
}

// constant are words that are the same in each run.
func constant(text string) func(*stream.Names) string {
	return func(*stream.Names) string { return text }
}

// codes of what begins a connection.
const (
	codeCancel  = 80877102
	codeSSL     = 80877103
	codeGSS     = 80877104
	version3    = 3
	versionBits = 16
)

// start cuts off what begins a connection.
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

// await is the command that carries out something.
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

// extended cuts off what the client sends up to Sync or Flush, which is carried out at once.
func (s *session) extended(b []byte) (c stream.Sent, n int, err error) {
	last, n, err := whole(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	var runs []portal
	count := 0
	for rest := b[:n]; len(rest) > 0; {
		kind, body, m, _ := readMessage(rest) // it is whole
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

// whole is the length of the messages up to Sync or Flush, 0 while that is not there, and which of them it is.
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

// take takes in a message of the extended protocol. executed says that something is carried out.
func (s *session) take(kind byte, body []byte) (p portal, executed bool, err error) {
	f := fields{rest: body}
	switch kind {
	case 'P':
		name := f.text()
		s.statements[name] = statement.Read(f.text(), statement.Postgres)
	case 'B':
		name, of := f.text(), f.text()
		for range f.int16() { // the forms of the values
			_ = f.int16()
		}
		s.portals[name] = portal{s.statements[of], f.values()}
	case 'E':
		p, executed = s.portals[f.text()], true
	case 'F': // a call of a function, whose number alone is sent
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

// Greets is false: the client begins.
func (s *session) Greets() bool { return false }

// Listens reports whether it has asked for notifications.
func (s *session) Listens() bool { return s.listens }
