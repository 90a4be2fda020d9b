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

// Header describes the locks of a history.
type Header struct {
	Kind  lock.Kind
	Locks []Named
	// GoneLate and GoneMayFree are as in [history.History].
	GoneLate, GoneMayFree bool
	// Clients is as in [history.History].
	Clients int
	// PlainValues prevents values that are pairs in an external history from being read as keys with values
	// (keys.go).
	PlainValues bool
}

// Named is a lock of a history, with its slots before the first event.
type Named struct {
	Name  string `json:"name"`
	Slots int    `json:"slots"`
}

// Unnamed is the header of a history without one: Jepsen's mutex.
var Unnamed = Header{Kind: lock.Mutex, Locks: []Named{{Name: "lock", Slots: 1}}}

// Notes count the skipped parts of an external history.
type Notes struct {
	Ignored     int  // events without meaning for a lock, such as partitions
	Unexplained int  // errors in unknown words: the reason of the failure is unknown
	Values      int  // values other than slots: the event may concern any slot
	Fields      int  // events with unknown fields
	Backwards   int  // events with an earlier time than the event before; String omits them
	Renamed     int  // processes of a client named by answers, which had another process before
	Keys        int  // keys of values that are pairs; each is a lock
	Owned       int  // answers that name their client
	Fences      int  // answers with a fence, which is a token
	Timeless    int  // clients' events without a time
	Spans       int  // spans that concern no lock
	Spanned     bool // the history consists of spans
}

// Readings are the choices made in reading an external history, one in each line.
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

// String describes the skipped parts; "" if there are none.
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

// HistoryInput is a history's file, or what comes through a pipe.
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

// ReadHistory reads a history; errors use the name. An error is one line: the place, the field, what was found, and
// what was expected.
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

// events reads the events of a history one by one.
type events struct {
	history *history.History // without its events
	next    func(*history.Event) error
	notes   *Notes
	clients *identities
}

// eventsOf begins to read a history in any of the formats. With k, its values are pairs with these keys.
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

// each calls event with each event, until it returns an error.
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
		case e.Time == 0 || e.F == history.Other: // it has none, or its time does not matter
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

// passBlanks skips any number of blanks at the beginning of a file, and counts their lines.
func passBlanks(in *bufio.Reader) (lines int) {
	for {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return lines // the next read returns the error again
		case !blankInJSON(rune(c)):
			_ = in.UnreadByte() // it was read
			return lines
		case c == '\n':
			lines++
		}
	}
}

func blankInJSON(c rune) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// looksLikeJSON distinguishes JSON from EDN by the token after the first brace, even within an array. An empty array
// is the same in both. It reads no further than necessary, within the buffer.
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

// atLine adds the place before an error.
func atLine(name string, line int, err error) error {
	return errors.New(style.Printable(name) + ":" + strconv.Itoa(line) + ": " + err.Error())
}

// check reports an error in a header, naming the field as in JSON.
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

// The bounds of a history from any source.
const (
	maxSlot         = 1<<16 - 1
	maxPriority     = 1<<8 - 1
	maxHistoryLocks = 1 << 10
)
