package histories

import (
	"bufio"
	"bytes"
	"io"

	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Jepsen's independent tests have many locks in one history: each operation's value is a pair of a key and the actual
// value, such as [5 nil]. A history is read in this way if every invocation has a pair, the value of every answer is
// a pair with the same key or nil, and every key is acquired before it is released.

// keys are the keys of a history whose values are pairs of a key and the actual value. They are in the order of their
// first appearance.
type keys struct {
	names   []string
	numbers map[string]uint16
	calling map[int32]uint16 // by process: the number of the key of its call under way
}

// maxKeyText is the largest length of a key's text, in bytes.
const maxKeyText = 1 << 8

// keysOf finds the keys of a history whose values are pairs of a key and the actual value. It returns nil if any
// operation has another value, or if the history cannot be read.
func keysOf(r io.Reader, name string, assumed Header) (*keys, error) {
	if assumed.PlainValues {
		return nil, nil
	}
	next := formsOf(r, name, assumed)
	k := newKeys()
	for next != nil {
		f, err := next()
		if err == io.EOF && len(k.names) > 0 {
			k.calling = make(map[int32]uint16)
			return k, nil
		}
		if err != nil || !k.see(&f) {
			return nil, nil
		}
		if len(k.names) > maxHistoryLocks {
			return nil, wrong("value", "more than "+style.Plural(maxHistoryLocks, "key"), "pairs [key value] of fewer keys, or --values plain if these are none")
		}
	}
	return nil, nil
}

func newKeys() *keys {
	return &keys{numbers: make(map[string]uint16), calling: make(map[int32]uint16)}
}

// formsOf returns a function that reads the events of a history as EDN forms. It returns nil if the history has a
// header, since such a history has no keys, or if it cannot be read.
func formsOf(r io.Reader, name string, assumed Header) func() (form, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	passBlanks(in)
	if !looksLikeJSON(in) {
		reader := NewEDNReader(in, name, assumed)
		return func() (form, error) {
			_, f, err := reader.next()
			return f, err
		}
	}
	reader, err := newReader(in, name, 0, assumed)
	if err != nil || reader.headed {
		return nil
	}
	return func() (form, error) {
		if err := reader.next(); err != nil {
			return form{}, err
		}
		return formOfJSON(bytes.TrimSpace(reader.lines.Bytes()))
	}
}

// see handles an event. It reports whether the values so far are pairs with keys.
func (k *keys) see(event *form) bool {
	process, what, f := event.get("process"), event.get("type"), event.get("f")
	if process == nil || process.kind != integerForm || what == nil || f == nil {
		return process != nil && process.kind != integerForm
	}
	value := event.get("value")
	if what.text != history.Invoke.String() && (value == nil || value.is("nil")) {
		return true
	}
	name, ok := keyIn(value)
	if !ok {
		return false
	}
	number, known := k.numbers[name]
	if what.text != history.Invoke.String() {
		return known && k.calling[int32(process.number)] == number
	}
	if !known {
		if of, _ := fs.find([]byte(f.text)); of.f.Op() != lock.Acquire && !of.f.Op().Administrative() {
			return false
		}
		number = uint16(len(k.names))
		k.names = append(k.names, name)
		k.numbers[name] = number
	}
	k.calling[int32(process.number)] = number
	return true
}

// keyIn is the key in a value. ok is false if the value is no pair.
func keyIn(value *form) (name string, ok bool) {
	if value == nil || value.kind != listForm || len(value.items) != 2 {
		return "", false
	}
	key := &value.items[0]
	if key.kind == listForm || key.kind == mapForm || key.is("nil") || len(key.text) > maxKeyText {
		return "", false
	}
	return key.String(), true
}

// header is the header of a history with these keys. It has a lock for each key, with as many slots as the assumed
// lock.
func (k *keys) header(assumed Header) Header {
	if k == nil {
		return assumed
	}
	slots := assumed.Locks[0].Slots
	assumed.Locks = nil
	for _, name := range k.names {
		assumed.Locks = append(assumed.Locks, Named{Name: "key " + name, Slots: slots})
	}
	return assumed
}

// split finds the key in an operation's value, sets the event's lock to that of the key, and returns the actual value.
func (k *keys) split(value *form, d *draft) (*form, error) {
	process := d.event.Process
	if d.event.Type != history.Invoke && (value == nil || value.is("nil")) {
		d.event.Lock = k.calling[process]
		return nil, nil
	}
	name, ok := keyIn(value)
	number, known := k.numbers[name]
	if !ok || !known {
		return nil, wrong("value", "no pair", "a key and a value, as all operations before have")
	}
	d.event.Lock, k.calling[process] = number, number
	return &value.items[1], nil
}
