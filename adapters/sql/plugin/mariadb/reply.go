package mariadb

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/adapters/gate/stream"
	"github.com/lockproof/lockproof/adapters/sql/plugin/statement"
	"github.com/lockproof/lockproof/model/backend"
)

// Values of the first byte of a server's packet.
const (
	isOK    = 0x00
	isLocal = 0xfb // the server asks the client to send a file
	isEOF   = 0xfe
	isError = 0xff
)

// Flags of the server's state, which a packet at the end of a result contains.
const (
	moreResults  = 1 << 3
	cursorExists = 1 << 6
)

// reply is what the server has replied to a command.
type reply struct {
	result   bool // the reply is a set of rows
	rows     int
	first    []string
	affected int
	failed   bool
	code     uint16
}

// Reply parses the first reply of b, or a message that no command asked for.
func (s *session) Reply(b []byte) (r stream.Said, n, settles int, err error) {
	if s.phase == greeting {
		return s.greet(b)
	}
	if len(s.sent) == 0 { // the server ends the connection, and sends the reason
		_, n, err := readPacket(b)
		return stream.Said{Words: constant("closes"), Ends: true}, n, 0, err
	}
	now := s.sent[0]
	p := packets{rest: b, agreed: s.agreed, command: now.command}
	if now.prepared != nil {
		p.types = now.prepared.columns
	}
	got, err := p.reply()
	if err != nil || p.short {
		return r, 0, 0, err
	}
	s.sent = s.sent[1:]
	switch {
	case now.command == authentic && p.first == isOK:
		s.phase = ready
	case now.command == comChangeUser && p.first == isEOF:
		s.phase = proving
	case now.command == comPrepare && !got.failed:
		err = s.prepare(b[4:], now.prepared)
	}
	if now.prepared != nil {
		now.prepared.columns = p.types
	}
	return stream.Said{Words: got.words, Result: got.outcome(now.name)}, len(b) - len(p.rest), 1, err
}

// greet reads the server's greeting, which has its capabilities.
func (s *session) greet(b []byte) (r stream.Said, n, settles int, err error) {
	body, n, err := readPacket(b)
	if err != nil || n == 0 {
		return r, 0, 0, err
	}
	s.phase = answering
	f := fields{rest: body}
	if f.number(1) == isError {
		return stream.Said{Words: constant("refused"), Result: backend.Wrong, Ends: true}, n, 0, nil
	}
	f.zero()
	f.take(4 + 8 + 1)
	s.offered = f.number(2)
	f.take(1 + 2)
	s.offered |= f.number(2) << 16
	f.take(1 + 6)
	if more := f.number(4); s.offered&oracle == 0 {
		s.offered |= more << 32
	}
	return stream.Said{Words: constant("greeting")}, n, 0, nil
}

// packets splits the server's bytes into the packets of a reply.
type packets struct {
	rest    []byte
	agreed  uint64
	command byte
	first   byte   // the first byte of the first packet
	types   []byte // types of the columns, as the server sent them last
	short   bool   // the reply is incomplete
}

// next returns the next packet, or nil if it has not arrived.
func (p *packets) next() ([]byte, error) {
	body, n, err := readPacket(p.rest)
	if err == nil && n > 0 && len(body) == 0 {
		err = fmt.Errorf("%w: an empty packet", errProtocol)
	}
	if p.short = n == 0; p.short || err != nil {
		return nil, err
	}
	p.rest = p.rest[n:]
	return body, nil
}

// describe reads the descriptions of n columns or parameters.
func (p *packets) describe(n int) error {
	if n > 0 {
		p.types = nil
	}
	for range n {
		column, err := p.next()
		if column == nil {
			return err
		}
		if at := len(column) - behindType; at >= 0 {
			p.types = append(p.types, column[at])
		}
	}
	return nil
}

// behindType is the distance of a column's type from the end of the column's description.
const behindType = 6

// end reads the EOF packet after columns, if client and server use EOF packets, and returns the server's state.
func (p *packets) end() (status uint64, err error) {
	if p.agreed&noEOF != 0 {
		return 0, nil
	}
	body, err := p.next()
	f := fields{rest: body}
	f.take(3)
	return f.number(2), err
}

// reply reads all packets of a reply.
func (p *packets) reply() (r reply, err error) {
	body, err := p.next()
	if body == nil {
		return r, err
	}
	if p.first = body[0]; p.first == isError {
		r.failed, r.code = true, failure(body)
		return r, nil
	}
	switch p.command {
	case comQuery, comExecute, comBulk:
		return r, p.results(&r, body)
	case comPrepare:
		f := fields{rest: body[1:]}
		f.take(4)
		columns, params := int(f.number(2)), int(f.number(2))
		for _, n := range []int{params, columns} {
			if err == nil && !p.short && n > 0 {
				if err = p.describe(n); err == nil && !p.short {
					_, err = p.end()
				}
			}
		}
	case comFields, comFetch:
		_, err = p.rows(&r, body)
	}
	return r, err
}

// results reads the results of all statements of a command. body is the first packet.
func (p *packets) results(r *reply, body []byte) error {
	for {
		more, err := p.one(r, body)
		if !more || err != nil || p.short {
			return err
		}
		if body, err = p.next(); body == nil {
			return err
		}
	}
}

// one reads one result, which begins with the packet body. more says that another result follows.
func (p *packets) one(r *reply, body []byte) (more bool, err error) {
	switch body[0] {
	case isOK:
		f := fields{rest: body[1:]}
		r.affected = f.length()
		f.length()
		return f.number(2)&moreResults != 0, nil
	case isError:
		r.failed, r.code = true, failure(body)
		return false, nil
	case isLocal:
		return false, fmt.Errorf("%w: LOAD DATA LOCAL", errProtocol)
	}
	status, err := p.columns(body)
	if err != nil || p.short || status&cursorExists != 0 {
		return false, err
	}
	r.result, r.rows = true, 0
	if body, err = p.next(); body == nil {
		return false, err
	}
	return p.rows(r, body)
}

// columns reads the descriptions of a result's columns, and returns the server's state.
func (p *packets) columns(body []byte) (status uint64, err error) {
	f := fields{rest: body}
	columns := f.length()
	if p.agreed&keepsColumns != 0 && f.number(1) == 0 {
		columns = 0
	}
	if err := p.describe(columns); err != nil || p.short {
		return 0, err
	}
	return p.end()
}

// shortEOF is the length in bytes below which a packet that begins with isEOF is an EOF packet.
const shortEOF = 9

// rows reads the rows of a result; body is the first packet. more is true if another result follows.
func (p *packets) rows(r *reply, body []byte) (more bool, err error) {
	for body != nil {
		f := fields{rest: body}
		switch {
		case body[0] == isError:
			r.failed, r.code = true, failure(body)
			return false, nil
		case body[0] == isEOF && p.agreed&noEOF != 0: // no row has this first byte: the value would exceed a packet
			f.take(1)
			f.length()
			f.length()
			return f.number(2)&moreResults != 0, nil
		case body[0] == isEOF && len(body) < shortEOF:
			f.take(3)
			return f.number(2)&moreResults != 0, nil
		}
		if r.rows++; r.rows == 1 && r.result {
			r.first = p.row(f)
		}
		if body, err = p.next(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// row reads the values of a row of a result.
func (p *packets) row(f fields) (all []string) {
	if p.command == comQuery {
		return f.row()
	}
	f.take(1)
	nulls := f.take((len(p.types) + 2 + 7) / 8)
	for i, kind := range p.types[:min(len(p.types), statement.MostValues)] {
		all = append(all, f.orNull(nulls, i+2, kind)) // the first two bits are unused
	}
	return all
}

// numbers are the words for the error codes that locks meet.
var numbers = map[uint16]string{
	1050: "table exists", 1062: "duplicate", 1146: "no such table", 1205: "lock wait timeout", 1213: "deadlock", 1317: "interrupted", 1927: "connection killed",
}

// words returns a description of the reply, as traces show it.
func (r *reply) words(n *stream.Names) string {
	switch {
	case r.failed:
		return strings.TrimSpace(fmt.Sprintf("error %d %s", r.code, numbers[r.code]))
	case r.result && r.rows == 0:
		return "no rows"
	case r.result:
		words := statement.Row(r.first, n)
		if r.rows > 1 {
			words += fmt.Sprintf(" and %d rows more", r.rows-1)
		}
		return words
	}
	return fmt.Sprintf("OK, %d rows", r.affected)
}

// outcome classifies the outcome of a command with the given name.
func (r *reply) outcome(name string) backend.Result {
	switch {
	case r.failed:
		return backend.Wrong
	case r.result && r.rows == 0, !r.result && r.affected == 0 && (name == "UPDATE" || name == "DELETE"):
		return backend.Absent
	case r.result && r.rows == 1 && len(r.first) == 1 && (r.first[0] == "0" || r.first[0] == statement.Null), !r.result && r.affected == 0 && name == "INSERT":
		return backend.Refused
	}
	return backend.Done
}
