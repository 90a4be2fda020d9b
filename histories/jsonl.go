package histories

import (
	"bufio"
	"bytes"
	"io"
	"math"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// A history in JSON Lines has a header and then one event in each line, with Jepsen's field names:
//
//	{"lockproof":"history","version":1,"kind":"semaphore","locks":[{"name":"jobs","slots":2}]}
//	{"index":0,"type":"invoke","process":1,"f":"acquire","value":null,"time":1000000}
//	{"index":1,"type":"ok","process":1,"f":"acquire","value":{"slot":1,"held":true},"time":4000000}
//	{"index":2,"type":"info","process":"nemesis","f":"gone","value":{"client":1},"time":5000000}
//
//   - index is optional; if given, it increases.
//   - type is invoke, ok (it happened), fail (it certainly did not) or info (unknown).
//   - process is a client's number, or "nemesis" for occurrences that no client caused.
//   - f is acquire, verify, refresh, release, create, add, remove, destroy, count or wait. For nemesis it is crash
//     (a client died), gone (the broker saw its connection end), lapse (its lease ended), pause, restart,
//     audit (from here on only one client at a time is active, and nothing else happens), or other (only counted).
//     Faults of machines are start-partition (messages from the nodes do not arrive at others), stop-partition
//     (all messages arrive again), kill-node, terminate-node, start-node, pause-node and resume-node.
//   - value has the argument or result of the operation, in the words of the adapters' interface: slot,
//     slots (how many; for acquire, the limit that its caller states), permits (how many permits of a semaphore are
//     taken or given back at once), mode (read or write), priority, held, token (the fencing token of a grant). For
//     nemesis it has client, or the numbers of nodes, from 1, as nodes and to.
//   - time is in nanoseconds. The order of the lines is the order of events; times must not contradict it.
//   - error is the reason of a fail or an info: full, gave-up, withdrawn, removed, disconnected,
//     busy, timed-out, crashed or not-held.
//   - lock is the name of the lock, and may be omitted for the first one.
//
// An array of such objects, over any number of lines, is also read. The header may be omitted if the caller knows it.
// A line may have no other field: a misspelt field would silently weaken the check. In an array without a header, as
// written by tools for Jepsen's tests, events with other fields are counted, and reported. The fields may also have
// the values of Jepsen's EDN, with the same meaning (edn.go): lock and unlock, other errors, other values, and the
// nemesis's actions on an external system. Skipped parts are counted, and reported.

// The format of histories in JSON Lines, and its bounds. Files with another version number are refused.
const (
	historyFormat  = "history"
	historyVersion = 1
	maxEventLine   = 1 << 20 // largest length of a line, in bytes
	minTime        = -math.MaxInt64
	nemesis        = "nemesis"
)

// headerFile is the first line of a history in JSON Lines.
type headerFile struct {
	Lockproof string  `json:"lockproof"`
	Version   int     `json:"version"`
	Kind      string  `json:"kind"`
	Locks     []Named `json:"locks"`
	GoneLate  bool    `json:"gone-late,omitzero"` // a "gone" has the time when a connection's end was noticed
	MayFree   bool    `json:"gone-may-free,omitzero"`
	Clients   int     `json:"clients,omitzero"` // client c of n is process c, c+n, c+2n and so on
}

// Reader reads a history from JSON Lines, event by event.
type Reader struct {
	Header Header

	name      string
	lines     *bufio.Scanner
	line      int
	array     *elements // splits the input if it is one JSON array; nil for JSON Lines
	pending   bool      // the current line was read, but not used yet
	headed    bool      // the input has a header
	locks     words[uint16]
	jepsen    interpreter // interprets events in Jepsen's own words
	clients   identities
	validator validator
	scanner   scanner
}

// newReader returns a reader of a history after the given number of blank lines, which only errors need. Errors use
// name as the file's name. assumed is the header for a history without one.
func newReader(in *bufio.Reader, name string, before int, assumed Header) (*Reader, error) {
	reader := &Reader{Header: assumed, name: name, lines: bufio.NewScanner(in), line: before, locks: assumed.vocabulary(), validator: newValidator()}
	reader.jepsen.locks = reader.locks
	reader.lines.Buffer(make([]byte, 1<<16), maxEventLine)
	if start, _ := in.Peek(1); string(start) == "[" {
		reader.array = &elements{at: before + 1}
		reader.lines.Split(reader.array.split)
	}
	if err := reader.next(); err == io.EOF {
		return reader, nil
	} else if err != nil {
		return nil, err
	}
	if !bytes.Contains(reader.lines.Bytes(), []byte(`"lockproof"`)) {
		reader.pending = true
		return reader, nil
	}
	return reader, reader.readHeader()
}

// next goes to the next nonempty line, or returns [io.EOF].
func (r *Reader) next() error {
	if r.pending {
		r.pending = false
		return nil
	}
	for r.lines.Scan() {
		r.line++
		if r.array != nil {
			r.line = r.array.line
		}
		if len(bytes.TrimSpace(r.lines.Bytes())) > 0 {
			return nil
		}
	}
	if err := r.lines.Err(); err == bufio.ErrTooLong {
		return atLine(r.name, r.line+1, wrong("", "more than 1 MB", "an event on a line"))
	} else if err != nil && r.array != nil {
		return atLine(r.name, r.array.line, err)
	} else if err != nil {
		return atLine(r.name, r.line+1, err)
	}
	return io.EOF
}

func (r *Reader) readHeader() error {
	doc := document{name: r.name, data: r.lines.Bytes(), before: r.line - 1}
	if err := doc.head(historyFormat, historyVersion); err != nil {
		return err
	}
	var f headerFile
	if err := doc.decode(&f); err != nil {
		return err
	}
	kind, err := lock.KindNamed(f.Kind)
	if err != nil {
		return doc.fail("/kind", err)
	}
	r.Header = Header{Kind: kind, Locks: f.Locks, GoneLate: f.GoneLate, GoneMayFree: f.MayFree, Clients: f.Clients}
	if err := r.Header.check(); err != nil {
		return atLine(r.name, r.line, err)
	}
	r.locks = r.Header.vocabulary()
	r.jepsen.locks, r.headed = r.locks, true
	return nil
}

// Read reads the next event, and returns [io.EOF] after the last. Other errors are one line: file, line, field, what
// was found, and what was expected.
func (r *Reader) Read(e *history.Event) error {
	d, err := r.read()
	*e = d.event
	return err
}

func (r *Reader) read() (d draft, err error) {
	if err := r.next(); err != nil {
		return d, err
	}
	r.scanner.reset(r.lines.Bytes())
	r.event(&d)
	known := true
	if err = r.scanner.err; err != nil || r.jepsen.keys != nil && d.event.Process != history.Nemesis {
		var understood bool
		if d, known, understood = r.jepsens(); understood {
			err = nil
		} else if err == nil {
			err = wrong("value", "no pair", "a key and a value, as all operations before have")
		}
	}
	if err == nil && known {
		r.clients.identify(&d)
		err = r.validator.check(&d)
	}
	if err != nil {
		return d, atLine(r.name, r.line, err)
	}
	if !known {
		d.event = r.jepsen.passOver(&d)
	}
	return d, nil
}

// jepsens interprets the current line as an event of Jepsen's. known is false if the event is to be skipped. understood
// is false if the line is no such event. For example, a line with unknown fields is understood only in an array without
// a header.
func (r *Reader) jepsens() (d draft, known, understood bool) {
	f, err := formOfJSON(r.lines.Bytes())
	more := !f.named(eventFields)
	if err != nil || f.kind != mapForm || more && (r.headed || r.array == nil) {
		return d, false, false
	}
	process := f.get("process")
	if v := f.get("value"); r.headed && v != nil && v.kind == mapForm && (process == nil || process.kind == textForm || !v.named(valueWords)) {
		return d, false, false
	}
	if process == nil || process.kind == textForm && process.text != nemesis || process.kind != textForm && process.kind != integerForm {
		return d, false, false
	}
	if of := f.get("f"); process.kind == textForm && (r.headed || more) && of != nil {
		if _, ours := fs.find([]byte(of.text)); ours {
			return d, false, false
		}
	}
	before := r.jepsen.notes
	if known, err = r.jepsen.event(&f, &d); err != nil {
		r.jepsen.notes = before
	} else if more {
		r.jepsen.notes.Fields++
	}
	return d, known, err == nil
}

// eventFields are the fields of an event. valueFields are the fields of an event's value. valueWords are valueFields
// and the words that only Jepsen's values have.
var (
	eventFields = []string{"index", "type", "process", "f", "value", "time", "error", "lock", "host", "pid", "session", "mono"}
	valueFields = []string{"slot", "slots", "permits", "mode", "priority", "held", "token", "client", "nodes", "to"}
	valueWords  = append([]string{"fence"}, valueFields...)
)

// event reads the current line into a draft.
func (r *Reader) event(d *draft) {
	s := &r.scanner
	e := &d.event
	for ok := s.enter(); ok; ok = s.more() {
		key := s.key()
		switch string(key) {
		case "index":
			d.begin(hasIndex, "index", s)
			d.index = s.integer(minTime, math.MaxInt64)
		case "type":
			d.begin(hasType, "type", s)
			e.Type = pick(s, &types)
		case "process":
			d.begin(hasProcess, "process", s)
			e.Process = process(s)
		case "f":
			d.begin(hasF, "f", s)
			d.act(pick(s, &fs))
		case "value":
			d.begin(hasValue, "value", s)
			value(s, d)
		case "time":
			d.begin(hasTime, "time", s)
			e.Time = s.integer(minTime, math.MaxInt64)
		case "error":
			d.begin(hasError, "error", s)
			if !s.null() {
				e.Reason = pick(s, &reasons)
			}
		case "lock":
			d.begin(hasLock, "lock", s)
			e.Lock = pick(s, &r.locks)
		default:
			recorder(s, d, key)
		}
	}
	s.end()
}

// recorder reads one of the fields that a recorder adds to an event: the host, the program's process number, the
// session or the monotonic time.
func recorder(s *scanner, d *draft, key []byte) {
	switch string(key) {
	case "host":
		d.begin(hasHost, "host", s)
		d.host = string(s.text())
	case "pid":
		d.begin(hasPID, "pid", s)
		d.pid = s.integer(0, math.MaxInt64)
	case "session":
		d.begin(hasSession, "session", s)
		s.text()
	case "mono":
		d.begin(hasMono, "mono", s)
		s.integer(minTime, math.MaxInt64)
	default:
		s.unknown(eventFields)
	}
}

// begin notes that a field of the event was found. A field that occurs twice is an error.
func (d *draft) begin(p part, field string, s *scanner) {
	s.field = field
	if d.has&p != 0 {
		s.fail("each field once")
	}
	d.has |= p
}

// process reads a client's number, or the word "nemesis".
func process(s *scanner) int32 {
	if s.peek() != '"' {
		return int32(s.integer(0, MaxProcess))
	}
	if at := s.at; string(s.text()) != nemesis {
		s.at = at
		s.fail("a client's number, or \"nemesis\"")
	}
	return history.Nemesis
}

// value reads the argument or result of an operation.
func value(s *scanner, d *draft) {
	if s.null() {
		return
	}
	e := &d.event
	for ok := s.enter(); ok; ok = s.more() {
		switch string(s.key()) {
		case "slot":
			d.begin(hasSlot, "slot", s)
			e.Slot = uint16(s.integer(0, maxSlot))
		case "slots":
			d.begin(hasSlots, "slots", s)
			e.Slots = uint16(s.integer(0, maxSlot))
		case "priority":
			d.begin(hasPriority, "priority", s)
			e.Priority = uint8(s.integer(0, maxPriority))
		case "held":
			d.begin(hasHeld, "held", s)
			e.Held = s.truth()
		case "token":
			d.begin(hasToken, "token", s)
			e.Token = s.integer(1, history.MaxToken)
		case "permits":
			d.begin(hasPermits, "permits", s)
			e.Permits = uint16(s.integer(1, maxSlot))
		case "mode":
			d.begin(hasMode, "mode", s)
			e.Shared = pick(s, &uses)
		case "client":
			d.begin(hasClient, "client", s)
			e.Target = int32(s.integer(0, MaxProcess))
		case "nodes":
			d.begin(hasNodes, "nodes", s)
			e.Nodes = s.nodes()
		case "to":
			d.begin(hasTo, "to", s)
			e.To = s.nodes()
		default:
			s.unknown(valueFields)
		}
	}
}
