package mariadb

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
)

// protocol is how clients of MariaDB talk.
type protocol struct{}

// Session begins a connection.
func (protocol) Session() stream.Session { return &session{prepared: make(map[uint32]*prepared)} }

// phase is how far a connection has come.
type phase uint8

const (
	greeting  phase = iota // the server says what it can do
	answering              // the client says what it can do, and who it is
	proving                // and proves that
	ready                  // it sends commands
)

// session is a connection.
type session struct {
	phase    phase
	offered  uint64 // what the server can do
	agreed   uint64 // and the client as well
	sent     []awaited
	prepared map[uint32]*prepared
	last     *prepared // that was prepared last
}

// awaited is the reply to a command.
type awaited struct {
	command  byte
	name     string    // of a statement
	prepared *prepared // that is carried out, or is to be prepared
}

// what client and server can do; those from 1<<32 on are MariaDB's own.
const (
	oracle       = 1 << 0 // it does not know MariaDB's own
	compresses   = 1 << 5
	encrypts     = 1 << 11
	noEOF        = 1 << 24
	keepsColumns = 1 << 36 // it is not told of columns again
)

// commands of the protocol.
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
	authentic     = 0xff // no command: what proves who the client is
)

// command is what is known of a command.
type command struct {
	name   string
	passes bool
}

var commands = map[byte]command{
	comQuit: {"QUIT", false}, comInitDB: {"USE", true}, comFields: {"FIELDS", true}, comStatistics: {"STATISTICS", true}, comKill: {"KILL", false},
	comPing: {"PING", true}, comChangeUser: {"CHANGE USER", false}, comLongData: {"LONG DATA", true}, comClose: {"CLOSE", true},
	comReset: {"RESET", true}, comSetOption: {"SET", true}, comFetch: {"FETCH", false}, comNew: {"RESET CONNECTION", false}, comPrepare: {"PREPARE", true},
}

// constant are words that are the same in each run.
func constant(text string) func(*stream.Names) string {
	return func(*stream.Names) string { return text }
}

// Command cuts off a command.
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

// begins takes in what the client says before its first command.
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

// refuses is an error if client and server agree on what is not known here.
func (s *session) refuses() error {
	if s.agreed&(compresses|encrypts) != 0 {
		return fmt.Errorf("%w: the connection is compressed or encrypted", errProtocol)
	}
	return nil
}

// command takes in a command.
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

// runs is the command that carries out a statement, with the values of its parameters.
func (s *session) runs(kind byte, p *prepared, values []string) stream.Sent {
	st := p.statement
	s.sent = append(s.sent, awaited{command: kind, name: st.Name(), prepared: p})
	return stream.Sent{
		Name: st.Name(), Replies: true, Passes: st.Passes(), MayChange: !st.Reads(), Key: st.Table(), Access: st.Access(),
		Words: func(n *stream.Names) string { return st.Shown(values, n) },
	}
}

// Greets reports whether the server has yet to say what it can do.
func (s *session) Greets() bool { return s.phase == greeting }

// Listens is false: the server says nothing unasked.
func (s *session) Listens() bool { return false }
