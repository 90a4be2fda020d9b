package histories

import (
	"bufio"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Writer writes a history as JSON Lines, event by event. A history can thus be on disk before it is judged.
type Writer struct {
	out   *bufio.Writer
	locks [][]byte // names of the locks, quoted for JSON
	index int64
	line  []byte
}

// NewWriter returns a Writer, after writing the header to its buffer. [Writer.Flush] empties the buffer.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	for _, l := range h.Locks {
		name, err := jsontext.AppendQuote(nil, l.Name)
		if err != nil {
			return nil, err
		}
		out.locks = append(out.locks, name)
	}
	head, err := json.Marshal(headerFile{historyFormat, historyVersion, h.Kind.String(), h.Locks, h.GoneLate, h.GoneMayFree, h.Clients})
	if err != nil {
		return nil, err
	}
	_, err = out.out.Write(append(head, '\n'))
	return out, err
}

// WriteHistory writes a whole history as JSON Lines.
func WriteHistory(w io.Writer, h *history.History) error {
	out, err := NewWriter(w, HeaderOf(h))
	if err != nil {
		return err
	}
	for i := range h.Events {
		if err := out.Write(&h.Events[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Write writes the next event.
func (w *Writer) Write(e *history.Event) error {
	b := append(w.line[:0], `{"index":`...)
	b = strconv.AppendInt(b, w.index, 10)
	b = append(append(b, `,"type":"`...), e.Type.String()...)
	b = append(b, `","process":`...)
	if e.Process == history.Nemesis {
		b = append(b, `"nemesis"`...)
	} else {
		b = strconv.AppendInt(b, int64(e.Process), 10)
	}
	b = append(append(b, `,"f":"`...), e.F.String()...)
	b = appendValue(append(b, `","value":`...), e)
	b = strconv.AppendInt(append(b, `,"time":`...), e.Time, 10)
	if e.Reason != lock.NoReason {
		b = append(append(append(b, `,"error":"`...), e.Reason.String()...), '"')
	}
	if len(w.locks) > 1 && e.Process != history.Nemesis {
		b = append(append(b, `,"lock":`...), w.locks[e.Lock]...)
	}
	w.line = append(b, '}', '\n')
	w.index++
	_, err := w.out.Write(w.line)
	return err
}

// Flush writes out the buffer.
func (w *Writer) Flush() error { return w.out.Flush() }

// appendValue writes an operation's argument or result, with the fields that the operation needs.
func appendValue(b []byte, e *history.Event) []byte {
	parts := valueOf(e)
	if parts == 0 {
		return append(b, "null"...)
	}
	sep := byte('{')
	field := func(name string) {
		b = append(append(b, sep, '"'), name...)
		b = append(b, '"', ':')
		sep = ','
	}
	if parts&hasSlot != 0 {
		field("slot")
		b = strconv.AppendInt(b, int64(e.Slot), 10)
	}
	if parts&hasSlots != 0 {
		field("slots")
		b = strconv.AppendInt(b, int64(e.Slots), 10)
	}
	if parts&hasPermits != 0 {
		field("permits")
		b = strconv.AppendInt(b, int64(e.Permits), 10)
	}
	if parts&hasMode != 0 {
		field("mode")
		b = append(b, `"read"`...)
	}
	if parts&hasPriority != 0 {
		field("priority")
		b = strconv.AppendInt(b, int64(e.Priority), 10)
	}
	if parts&hasHeld != 0 {
		field("held")
		b = strconv.AppendBool(b, e.Held)
	}
	if parts&hasToken != 0 {
		field("token")
		b = strconv.AppendInt(b, e.Token, 10)
	}
	if parts&hasClient != 0 {
		field("client")
		b = strconv.AppendInt(b, int64(e.Target), 10)
	}
	if parts&hasNodes != 0 {
		field("nodes")
		b = appendNodes(b, e.Nodes)
	}
	if parts&hasTo != 0 {
		field("to")
		b = appendNodes(b, e.To)
	}
	return append(b, '}')
}

// appendNodes writes the numbers of nodes.
func appendNodes(b []byte, nodes history.Nodes) []byte {
	sep := byte('[')
	for _, number := range nodes.List() {
		b = strconv.AppendInt(append(b, sep), int64(number), 10)
		sep = ','
	}
	return append(b, ']')
}

// valueOf are the fields of an event that are written as parts of its value.
func valueOf(e *history.Event) part {
	var parts part
	op := e.F.Op()
	if e.Slot != history.AnySlot || op == lock.Wait {
		parts |= hasSlot
	}
	if e.Slots != 0 || op == lock.Count && e.Type == history.OK || op.Administrative() && op != lock.Destroy && e.Type == history.Invoke {
		parts |= hasSlots
	}
	if e.Permits != 0 {
		parts |= hasPermits
	}
	if e.Shared {
		parts |= hasMode
	}
	if e.Priority != 0 {
		parts |= hasPriority
	}
	if e.Held || e.Type == history.OK && (op == lock.Acquire || op == lock.Verify || op == lock.Refresh) {
		parts |= hasHeld
	}
	if e.Token != 0 {
		parts |= hasToken
	}
	if e.Target != 0 || e.F.Whose() {
		parts |= hasClient
	}
	if e.Nodes != 0 {
		parts |= hasNodes
	}
	if e.To != 0 {
		parts |= hasTo
	}
	return parts
}
