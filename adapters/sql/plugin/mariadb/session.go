package mariadb

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// protocol is the protocol between MariaDB and its clients.
type protocol struct{}

// Session returns the parser for a new connection.
func (protocol) Session() stream.Session { return &session{prepared: make(map[uint32]*prepared)} }

// phase is how far a connection is established.
type phase uint8

const (
	greeting  phase = iota // the server sends its capabilities
	answering              // the client sends its capabilities and its user
	proving                // the client authenticates
	ready                  // the client sends commands
)

// session is the parser for one client's connection.
type session struct {
	phase    phase
	offered  uint64 // the server's capabilities
	agreed   uint64 // the capabilities of both the client and the server
	sent     []awaited
	prepared map[uint32]*prepared
	last     *prepared // the statement that was prepared last
}

// awaited is a reply that the server still has to send to a command.
type awaited struct {
	command  byte
	name     string    // first word of the statement, such as SELECT
	prepared *prepared // the statement that is carried out or prepared
}

// Capability flags of clients and servers. Flags from 1<<32 on are MariaDB's own.
const (
	oracle       = 1 << 0 // the client does not know MariaDB's own flags
	compresses   = 1 << 5
	encrypts     = 1 << 11
	noEOF        = 1 << 24
	keepsColumns = 1 << 36 // the client keeps the descriptions of columns, so the server does not repeat them
)

// Commands of MariaDB's protocol, by their first byte.
const (
	comQuit       = 0x01
	comInitDB     = 0x02
	comQuery      = 0x03
	comFields     = 0x04
	comStatistics = 0x09
	comKill       = 0x0c
	comPing       = 0x0e
	comChangeUser = 0x11
	comPrepare    = 0x16
	comExecute    = 0x17
	comLongData   = 0x18
	comClose      = 0x19
	comReset      = 0x1a
	comSetOption  = 0x1b
	comFetch      = 0x1c
	comNew        = 0x1f
	comBulk       = 0xfa
	authentic     = 0xff // not a command: what the client sends to authenticate
)

// command says how to treat a kind of command.
type command struct {
	name   string
	passes bool
}

var commands = map[byte]command{
	comQuit: {"QUIT", false}, comInitDB: {"USE", true}, comFields: {"FIELDS", true}, comStatistics: {"STATISTICS", true}, comKill: {"KILL", false},
	comPing: {"PING", true}, comChangeUser: {"CHANGE USER", false}, comLongData: {"LONG DATA", true}, comClose: {"CLOSE", true},
	comReset: {"RESET", true}, comSetOption: {"SET", true}, comFetch: {"FETCH", false}, comNew: {"RESET CONNECTION", false}, comPrepare: {"PREPARE", true},
}

// constant returns a function that returns text, for [stream.Sent.Words] of a command whose words are always the same.
func constant(text string) func(*stream.Names) string {
	return func(*stream.Names) string { return text }
}

// Command parses the first command of b, which is what the client has sent.
func (s *session) Command(b []byte) (c stream.Sent, n int, err error) {
	body, n, err := readPacket(b)
	if err != nil || n == 0 {
		return c, 0, err
	}
	if s.phase != ready {
		return s.begins(body), n, s.refuses()
	}
	if len(body) == 0 {
		return c, 0, errProtocol
	}
	c, err = s.command(body[0], body)
	return c, n, err
}

// begins handles what the client sends before its first command.
func (s *session) begins(body []byte) stream.Sent {
	f := fields{rest: body}
	if s.phase == answering {
		can := f.number(4)
		f.take(4 + 1 + 19)
		if more := f.number(4); can&oracle == 0 {
			can |= more << 32
		}
		s.agreed = can & s.offered
		s.phase = proving
	}
	s.sent = append(s.sent, awaited{command: authentic})
	return stream.Sent{Name: "CONNECT", Passes: true, Replies: true, Words: constant("CONNECT")}
}

// refuses returns an error if client and server have agreed on a capability that is not supported here.
func (s *session) refuses() error {
	if s.agreed&(compresses|encrypts) != 0 {
		return fmt.Errorf("%w: the connection is compressed or encrypted", errProtocol)
	}
	return nil
}

// command parses a command of the given kind.
func (s *session) command(kind byte, body []byte) (c stream.Sent, err error) {
	switch kind {
	case comQuery:
		return s.runs(kind, &prepared{statement: statement.Read(string(body[1:]), statement.MariaDB)}, nil), nil
	case comExecute, comBulk:
		p, values, err := s.execute(body)
		return s.runs(kind, p, values), err
	}
	known, ok := commands[kind]
	if !ok {
		return c, fmt.Errorf("%w: the command %#x", errProtocol, kind)
	}
	a := awaited{command: kind, name: known.name}
	c = stream.Sent{Name: known.name, Passes: known.passes, Replies: true, MayChange: !known.passes, Words: constant(known.name)}
	switch kind {
	case comQuit:
		c.Role, c.Replies = gate.Closes, false
	case comLongData:
		c.Replies = false
	case comClose:
		f := fields{rest: body[1:]}
		delete(s.prepared, uint32(f.number(4)))
		c.Replies = false
	case comPrepare:
		a.prepared = &prepared{statement: statement.Read(string(body[1:]), statement.MariaDB)}
	}
	if c.Replies {
		s.sent = append(s.sent, a)
	}
	return c, nil
}

// runs returns the command that carries out a statement with the given parameter values.
func (s *session) runs(kind byte, p *prepared, values []string) stream.Sent {
	st := p.statement
	s.sent = append(s.sent, awaited{command: kind, name: st.Name(), prepared: p})
	return stream.Sent{
		Name: st.Name(), Replies: true, Passes: st.Passes(), MayChange: !st.Reads(), Key: st.Table(), Access: st.Access(),
		Words: func(n *stream.Names) string { return st.Shown(values, n) },
	}
}

// Greets reports whether the server has not yet sent its greeting.
func (s *session) Greets() bool { return s.phase == greeting }

// Listens returns false, since the server sends only replies.
func (s *session) Listens() bool { return false }
