package histories

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/histories/infile"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Header describes the locks of a history, and how it was recorded.
type Header struct {
	Kind  lock.Kind
	Locks []Named
	// GoneLate and GoneMayFree say how the ends of connections were recorded, as in [history.History].
	GoneLate, GoneMayFree bool
	// Clients is the number of clients, as in [history.History]; 0 if unknown.
	Clients int
	// PlainValues says that a value such as [5 nil] in an external history is not read as a pair of a key and a value
	// (keys.go).
	PlainValues bool
}

// Named is a lock of a history, with the number of its slots before the first event.
type Named struct {
	Name  string `json:"name"`
	Slots int    `json:"slots"`
}

// Unnamed is the header that is assumed for a history without one: a single mutex, as in Jepsen's tests.
var Unnamed = Header{Kind: lock.Mutex, Locks: []Named{{Name: "lock", Slots: 1}}}

// Notes count what was skipped or reinterpreted in an external history.
type Notes struct {
	Ignored     int  // events that mean nothing for a lock, such as Jepsen's partitions
	Unexplained int  // errors in unknown words, so that the reason is unknown
	Values      int  // values that name no slot, so that the event may concern any
	Fields      int  // events with unknown fields
	Backwards   int  // events with an earlier time than the one before; not in String
	Renamed     int  // processes that continue another process of the same client
	Keys        int  // different keys in values that are pairs; each key is a lock
	Owned       int  // answers that name their client
	Fences      int  // answers with a fence, which is a token
	Timeless    int  // events of clients without a time
	Spans       int  // spans without the attribute lock.name
	Spanned     bool // the history was converted from spans
}

// Readings describes how an external history was interpreted where there was a choice, one choice in each line.
func (n Notes) Readings() (lines []string) {
	if n.Spanned {
		lines = append(lines, "a span is an operation that is called when it starts and answered when it ends; those that touch are concurrent")
	}
	if n.Keys > 0 {
		lines = append(lines, "values are pairs [key value], and each of "+style.Plural(n.Keys, "key")+" is a lock of its own")
	}
	if n.Owned > 0 {
		lines = append(lines, "a lock's owner is the client that an answer names, whichever process it is")
	}
	if n.Fences > 0 {
		lines = append(lines, "a fence is a fencing token, which has to grow; 0 is none")
	}
	return lines
}

// String describes what was skipped; "" if nothing was.
func (n Notes) String() string {
	var said []string
	for _, note := range []struct {
		count int
		noun  string
		means string
	}{
		{n.Ignored, "event", "of the nemesis ignored"},
		{n.Unexplained, "error", "not understood: such a failure has no known reason"},
		{n.Values, "value", "without a slot: such an event may be of any slot"},
		{n.Fields, "event", "with fields that are not known"},
		{n.Spans, "span", "without lock.name left out"},
		{n.Renamed, "process number", "of a client that answers name, and that had another before"},
	} {
		if note.count > 0 {
			said = append(said, style.Plural(note.count, note.noun)+" "+note.means)
		}
	}
	return strings.Join(said, "; ")
}

// HeaderOf is the header of a history.
func HeaderOf(h *history.History) Header {
	header := Header{Kind: h.Kind, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree, Clients: h.Clients}
	for i, name := range h.Locks {
		header.Locks = append(header.Locks, Named{name, h.Slots[i]})
	}
	return header
}

func (h *Header) history() *history.History {
	out := &history.History{Kind: h.Kind, GoneLate: h.GoneLate, GoneMayFree: h.GoneMayFree, Clients: h.Clients}
	for _, l := range h.Locks {
		out.Locks, out.Slots = append(out.Locks, l.Name), append(out.Slots, l.Slots)
	}
	return out
}

// HistoryInput describes a history as an input file or pipe: its name in errors, and its maximum size, 64 GiB.
var HistoryInput = infile.Input{Noun: "history", Most: 64 << 30}

// LoadHistory reads a history from a file: JSON Lines, a JSON array, or Jepsen's EDN. assumed is the header for a
// history without one.
func LoadHistory(path string, assumed Header) (*history.History, Notes, error) {
	f, err := HistoryInput.Open(path)
	if err != nil {
		return nil, Notes{}, err
	}
	defer f.Close()
	return ReadHistory(f, path, assumed)
}

// ReadHistory reads a history. An error is one line: the place, the field, what was found, and what was expected.
// Errors use name as the file's name.
func ReadHistory(r io.Reader, name string, assumed Header) (*history.History, Notes, error) {
	rec, err := NewRecording(r, name, assumed)
	if err != nil {
		return nil, Notes{}, err
	}
	h := rec.History()
	err = rec.Each(func(e *history.Event) error {
		h.Events = append(h.Events, *e)
		return nil
	})
	if err = errors.Join(err, rec.Close()); err != nil {
		return nil, rec.Notes(), err
	}
	return h, rec.Notes(), nil
}

// events reads the events of a history one by one, in any format.
type events struct {
	history *history.History // the history without its events
	next    func(*history.Event) error
	notes   *Notes
	clients *identities
}

// eventsOf begins to read a history in any of the formats. If k is not nil, the history's values are pairs with these
// keys.
func eventsOf(r io.Reader, name string, assumed Header, k *keys) (*events, error) {
	assumed = k.header(assumed)
	in := bufio.NewReaderSize(r, 1<<18)
	lines := passBlanks(in)
	if !looksLikeJSON(in) {
		reader := NewEDNReader(in, name, assumed)
		reader.forms.line += lines
		reader.interpreter.keyed(k)
		notes := &reader.interpreter.notes
		return &events{history: assumed.history(), next: newOwners(reader.read, notes).Read, notes: notes, clients: &reader.clients}, nil
	}
	reader, err := newReader(in, name, lines, assumed)
	if err != nil {
		return nil, err
	}
	reader.jepsen.keyed(k)
	out := &events{history: reader.Header.history(), next: reader.Read, notes: &reader.jepsen.notes, clients: &reader.clients}
	if !reader.headed {
		out.next = newOwners(reader.read, out.notes).Read
	}
	return out, nil
}

// each calls event with each event. It stops at the first error of event, and returns it.
func (in *events) each(event func(e *history.Event) error) error {
	var e history.Event
	last := int64(minTime)
	for {
		if err := in.next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch {
		case e.Time == 0 || e.F == history.Other: // the event has no time, or its time does not matter
		case e.Time < last:
			in.notes.Backwards++
		default:
			last = e.Time
		}
		if err := event(&e); err != nil {
			return err
		}
	}
}

// passBlanks skips the blanks at the beginning of a file, and returns the number of lines skipped.
func passBlanks(in *bufio.Reader) (lines int) {
	for {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return lines // the next read returns the error again
		case !blankInJSON(rune(c)):
			_ = in.UnreadByte() // never fails, since a byte was just read
			return lines
		case c == '\n':
			lines++
		}
	}
}

func blankInJSON(c rune) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// looksLikeJSON reports whether a history is JSON; otherwise it is EDN. The token after the first brace decides, also
// within an array. It looks only as far ahead as necessary, within the buffer.
func looksLikeJSON(in *bufio.Reader) bool {
	for n := 64; ; n *= 2 {
		start, err := in.Peek(n)
		start = bytes.TrimLeftFunc(start, func(c rune) bool { return c == '[' || blankInJSON(c) })
		brace := bytes.HasPrefix(start, []byte{'{'})
		rest := bytes.TrimLeftFunc(bytes.TrimPrefix(start, []byte{'{'}), blankInJSON)
		switch {
		case len(rest) > 0:
			return brace && (rest[0] == '"' || rest[0] == '}')
		case err != nil:
			return brace || len(start) == 0 // an empty file is an empty history
		}
	}
}

// atLine puts the file's name and the line before an error.
func atLine(name string, line int, err error) error {
	return errors.New(style.Printable(name) + ":" + strconv.Itoa(line) + ": " + err.Error())
}

// check reports what is wrong in a header. The error names the field as in JSON.
func (h *Header) check() error {
	if len(h.Locks) == 0 || len(h.Locks) > maxHistoryLocks {
		return wrong("locks", style.Plural(len(h.Locks), "lock"), "1 to %d", maxHistoryLocks)
	}
	for i, l := range h.Locks {
		if err := lock.CheckName(l.Name); err != nil {
			return fmt.Errorf("locks: %w", err)
		}
		if slices.ContainsFunc(h.Locks[:i], func(o Named) bool { return o.Name == l.Name }) {
			return wrong("locks", strconv.Quote(l.Name)+" a second time", "names that differ")
		}
		if l.Slots < 0 || l.Slots > maxSlot {
			return wrong("slots", strconv.Itoa(l.Slots), "0 to %d", maxSlot)
		}
	}
	if h.Clients < 0 || h.Clients > MaxProcess {
		return wrong("clients", strconv.Itoa(h.Clients), "0 to %d", MaxProcess)
	}
	return nil
}

// The largest numbers that a history may have.
const (
	maxSlot         = 1<<16 - 1
	maxPriority     = 1<<8 - 1
	maxHistoryLocks = 1 << 10
)
