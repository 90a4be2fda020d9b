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

// keys are the keys of such a history, in the order of their appearance.
type keys struct {
	names   []string
	numbers map[string]uint16
	calling map[int32]uint16 // by process: the key of its operation under way
}

// maxKeyText is the largest length of a key in bytes.
const maxKeyText = 1 << 8

// keysOf are the keys of a history, or nil if its values are no pairs. It stops at the first value that is no pair.
// An unreadable history has no keys.
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

// formsOf returns the events of a history without a header as forms; nil if it has a header.
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

// see handles an event, and reports whether the history can still be one with keys.
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

// keyIn is the key of a value that is a pair.
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

// header is the header of a history with these keys: each is a lock like the assumed one.
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

// split assigns a client's operation to the lock of its key, and returns the actual value.
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
