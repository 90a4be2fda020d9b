package histories

import (
	"io"
	"strings"

	"github.com/lockproof/lockproof/model/history"
)

// Jepsen stores a history as EDN: a map for each event, one after the other or in a vector. Newer versions tag each
// map as a record.
//
//	{:type :invoke, :f :acquire, :value nil, :process 0, :time 12345, :index 0}
//	#jepsen.history.Op{:index 1, :time 23456, :type :ok, :process 0, :f :acquire, :value nil}
//
// Locks in Jepsen have permits, not numbered slots: an event may concern any slot, unless its value is a map with
// lockproof's words (slot, slots, held, token). In Hazelcast's tests, :fence is a token, and :client is the
// operation's owner, under any process number (owners.go). The nemesis's actions on an external system are no
// evidence for lockproof; they are only counted, so that events keep Jepsen's numbers. lockproof's own occurrences
// are keywords of the namespace lockproof.

// namespace is the beginning of the keywords for lockproof's own occurrences, such as :lockproof/gone.
const namespace = "lockproof/"

// EDNReader reads a history from EDN, event by event.
type EDNReader struct {
	Header Header

	name        string
	forms       formScanner
	inside      bool // the vector with all events has begun
	interpreter interpreter
	clients     identities
	validator   validator
}

// interpreter interprets an event of EDN or JSON, in Jepsen's words and in lockproof's.
type interpreter struct {
	locks words[uint16]
	keys  *keys // the keys, if values are pairs of a key and a value; else nil
	notes Notes
}

// keyed makes the interpreter read values as pairs of a key and a value. If k is nil, it reads values as they are.
func (i *interpreter) keyed(k *keys) {
	if i.keys = k; k != nil {
		i.notes.Keys = len(k.names)
	}
}

// NewEDNReader returns a reader of a history in EDN. EDN does not describe the locks, so assumed does. Errors use name
// as the file's name.
func NewEDNReader(r io.Reader, name string, assumed Header) *EDNReader {
	return &EDNReader{
		Header: assumed, name: name, forms: newFormScanner(r),
		interpreter: interpreter{locks: assumed.vocabulary()}, validator: newValidator(),
	}
}

// Notes are the counts of what was skipped so far.
func (r *EDNReader) Notes() Notes { return r.interpreter.notes }

// Read reads the next event, and returns [io.EOF] after the last. Other errors are one line: file, line, field, what
// was found, and what was expected.
func (r *EDNReader) Read(e *history.Event) error {
	d, err := r.read()
	*e = d.event
	return err
}

func (r *EDNReader) read() (d draft, err error) {
	line, f, err := r.next()
	if err == io.EOF {
		return d, err
	}
	known := false
	if err == nil {
		known, err = r.interpreter.event(&f, &d)
	}
	if err == nil && known {
		r.clients.identify(&d)
		err = r.validator.check(&d)
	}
	if err != nil {
		return d, atLine(r.name, line, err)
	}
	if !known {
		d.event = r.interpreter.passOver(&d)
	}
	return d, nil
}

// passOver counts a skipped event, and returns a placeholder, so that later events keep their numbers.
func (i *interpreter) passOver(d *draft) history.Event {
	i.notes.Ignored++
	return history.Event{Time: d.event.Time, Process: history.Nemesis, Type: history.Info, F: history.Other}
}

// next reads the next event as a form. It returns the line where the event begins, or where an error is.
func (r *EDNReader) next() (int, form, error) {
	s := &r.forms
	s.room = maxForm
	c := s.blank(0)
	for (c == '[' || c == '(') && !r.inside || (c == ']' || c == ')') && r.inside {
		r.inside = !r.inside
		s.take()
		c = s.blank(0)
	}
	switch {
	case s.err != nil:
		return s.line, form{}, s.err
	case c == 0 && !r.inside:
		return s.line, form{}, io.EOF
	}
	line := s.line
	if f := s.form(0); s.err == nil {
		return line, f, nil
	}
	return s.line, form{}, s.err
}

// event interprets an event in the form of a map. known is false if the event is to be skipped.
func (i *interpreter) event(f *form, d *draft) (known bool, err error) {
	if f.kind != mapForm {
		return false, wrong("", f.String(), "an event: a map of EDN, or an object of JSON")
	}
	if err := i.process(f.get("process"), d); err != nil {
		return false, err
	}
	if d.event.Process == history.Nemesis {
		return i.occurrence(f, d)
	}
	if host := f.get("host"); host != nil && host.kind == textForm {
		d.host = host.text
	}
	if pid := f.get("pid"); pid != nil {
		d.pid = pid.number
	}
	for _, read := range []func(*form, *draft) error{i.numbers, i.words, i.value, i.owner, i.reason} {
		if err := read(f, d); err != nil {
			return false, err
		}
	}
	return true, nil
}

// process reads a client's number, if there is one.
func (i *interpreter) process(f *form, d *draft) error {
	if f == nil {
		return nil // if the process is missing, the validator reports that
	}
	d.has |= hasProcess
	d.event.Process = history.Nemesis
	if f.kind != integerForm && f.kind != numberForm {
		return nil
	}
	if f.kind != integerForm || f.number < 0 || f.number > MaxProcess {
		return wrong("process", f.String(), "a client's number from 0 to %d, or :nemesis", MaxProcess)
	}
	d.event.Process = int32(f.number)
	return nil
}

// numbers reads an event's index and time. In histories made by hand they may be missing or nil.
func (i *interpreter) numbers(event *form, d *draft) error {
	for _, n := range []struct {
		name string
		part part
		to   *int64
	}{{"index", hasIndex, &d.index}, {"time", hasTime, &d.event.Time}} {
		f := event.get(n.name)
		if f == nil || f.is("nil") {
			continue
		}
		if f.kind != integerForm {
			return wrong(n.name, f.String(), "a whole number of 64 bits")
		}
		*n.to = f.number
		d.has |= n.part
	}
	return nil
}

func (i *interpreter) words(event *form, d *draft) error {
	var ok bool
	if f := event.get("type"); f != nil {
		d.has |= hasType
		if d.event.Type, ok = types.find([]byte(f.text)); !ok {
			return wrong("type", f.String(), "%s", types.expected)
		}
	}
	if f := event.get("f"); f != nil {
		d.has |= hasF
		of, ok := fs.find([]byte(f.text))
		if d.act(of); !ok {
			return wrong("f", f.String(), "an operation: %s", fs.expected)
		}
	}
	if f := event.get("lock"); f != nil {
		d.has |= hasLock
		if d.event.Lock, ok = i.locks.find([]byte(f.text)); !ok {
			return wrong("lock", f.String(), "%s", i.locks.expected)
		}
	}
	return nil
}

// value reads an operation's argument or result: true, false, or a map with lockproof's words. Other values are counted
// in the notes.
func (i *interpreter) value(event *form, d *draft) error {
	f := event.get("value")
	if i.keys != nil {
		var err error
		if f, err = i.keys.split(f, d); err != nil {
			return err
		}
	}
	if f == nil || f.is("nil") {
		return nil
	}
	if f.is("true") || f.is("false") {
		d.has |= hasHeld
		d.event.Held = f.text == "true"
		return nil
	}
	before := d.has
	for k := 0; f.kind == mapForm && k < len(f.items); k += 2 {
		if err := d.detail(f.items[k].text, &f.items[k+1]); err != nil {
			return err
		}
		if f.items[k].text == "fence" && d.event.Token > 0 {
			i.notes.Fences++
		}
	}
	if d.owner != "" && d.event.Type != history.Invoke {
		i.notes.Owned++
	}
	if d.has == before && d.owner == "" {
		i.notes.Values++
	}
	return nil
}

// owner reads the client that an answer names in its field debug. Hazelcast's semaphores name it there if they grant
// nothing.
func (i *interpreter) owner(event *form, d *draft) error {
	debug := event.get("debug")
	if debug == nil || d.owner != "" || d.event.Type == history.Invoke {
		return nil
	}
	if client := debug.get("client"); client != nil && !client.is("nil") {
		d.owner = client.String()
		i.notes.Owned++
	}
	return nil
}

// detail reads one entry of a value's map.
func (d *draft) detail(name string, f *form) error {
	switch name {
	case "held":
		if !f.is("true") && !f.is("false") {
			return wrong("held", f.String(), "true or false")
		}
		d.has |= hasHeld
		d.event.Held = f.text == "true"
	case "priority":
		if f.kind != integerForm || f.number < 0 || f.number > maxPriority {
			return wrong(name, f.String(), "a whole number from 0 to %d", maxPriority)
		}
		d.has |= hasPriority
		d.event.Priority = uint8(f.number)
	case "client":
		if !f.is("nil") {
			d.owner = f.String()
		}
	case "fence":
		if f.kind != integerForm || f.number < 0 || f.number > history.MaxToken {
			return wrong(name, f.String(), "a whole number from 0 to %d", history.MaxToken)
		}
		if f.number > 0 { // 0 means no priority
			d.has |= hasToken
			d.event.Token = f.number
		}
	case "token":
		if f.kind != integerForm || f.number < 1 || f.number > history.MaxToken {
			return wrong(name, f.String(), "a whole number from 1 to %d", history.MaxToken)
		}
		d.has |= hasToken
		d.event.Token = f.number
	case "mode":
		shared, ok := uses.find([]byte(f.text))
		if !ok {
			return wrong(name, f.String(), "%s", uses.expected)
		}
		d.has |= hasMode
		d.event.Shared = shared
	case "permits":
		if f.kind != integerForm || f.number < 1 || f.number > maxSlot {
			return wrong(name, f.String(), "a whole number from 1 to %d", maxSlot)
		}
		d.has |= hasPermits
		d.event.Permits = uint16(f.number)
	case "slot", "slots":
		if f.kind != integerForm || f.number < 0 || f.number > maxSlot {
			return wrong(name, f.String(), "a whole number from 0 to %d", maxSlot)
		}
		if name == "slot" {
			d.has |= hasSlot
			d.event.Slot = uint16(f.number)
			return nil
		}
		d.has |= hasSlots
		d.event.Slots = uint16(f.number)
	}
	return nil
}

// reason reads the error of a failed operation. Jepsen often writes it as the first item of a vector. An unknown word
// means that the reason is unknown.
func (i *interpreter) reason(event *form, d *draft) error {
	f := event.get("error")
	if f == nil || f.is("nil") {
		return nil
	}
	if f.kind == listForm && len(f.items) > 0 {
		f = &f.items[0]
	}
	reason, ok := reasons.find([]byte(f.text))
	if !ok {
		i.notes.Unexplained++
	}
	d.event.Reason = reason
	return nil
}

// occurrence reads one of lockproof's own occurrences, such as :lockproof/gone. known is false for other events of the
// nemesis.
func (i *interpreter) occurrence(event *form, d *draft) (known bool, err error) {
	if f := event.get("time"); f != nil {
		d.event.Time = f.number // 0 if the form is no integer
	}
	f := event.get("f")
	if f == nil || !strings.HasPrefix(f.text, namespace) {
		return false, nil
	}
	name := strings.TrimPrefix(f.text, namespace)
	of, known := fs.find([]byte(name))
	if d.event.F = of.f; !known {
		return false, wrong("f", f.String(), "%s before crash, gone, lapse, pause, restart, audit, other or a fault of machines", ":"+namespace)
	}
	d.has |= hasType | hasF
	d.event.Type = history.Info
	if value := event.get("value"); value != nil && value.kind == mapForm {
		for k := 0; k < len(value.items); k += 2 {
			d.befell(value.items[k].text, &value.items[k+1])
		}
	}
	return true, i.numbers(event, d)
}

// befell reads which client or which nodes an occurrence concerns.
func (d *draft) befell(what string, whom *form) {
	switch {
	case what == "client" && whom.kind == integerForm && whom.number >= 0 && whom.number <= MaxProcess:
		d.has |= hasClient
		d.event.Target = int32(whom.number)
	case what == "nodes":
		d.event.Nodes = nodesIn(whom)
	case what == "to":
		d.event.To = nodesIn(whom)
	}
}

// nodesIn are the node numbers in a list; other items are skipped.
func nodesIn(list *form) (set history.Nodes) {
	for _, item := range list.items {
		if item.kind == integerForm && item.number >= 1 && item.number <= history.MostNodes {
			set |= history.NodesOf(int(item.number))
		}
	}
	return set
}
