// Package holding is what a user declares of a server's state: by what a client holds a lock there. A wrong belief is found when it
// begins then, and pictures show who holds what. No verdict needs it.
//
//	queue {name}-{slot}     who has the exclusive queue holds the slot
//	message {name}.tokens   who was sent a message of the queue, and has not acknowledged it
//	absent {name}.token     somebody, while a message is missing from the queue
//	consumer {name}.active  who consumes the queue, and does not wait to be its single active consumer
//
// {name} is the lock's name and {slot} the slot's number; {slot-1} counts from 0; {{ and }} are braces. If there is no
// {name}, the first jobs stands for it, as in all that is shown of locks: jobs-{slot} is {name}-{slot}. If there is no
// {slot}, slots are alike: the server then shows who holds the lock, and not by which slot.
package holding

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Thing is what a client has of a server that holds a lock.
type Thing uint8

// The things. Nothing is what is not declared.
const (
	Nothing Thing = iota
	Queue
	Message
	Absent
	Consumer
)

var things = [...]string{Queue: "queue", Message: "message", Absent: "absent", Consumer: "consumer"}

// String is the thing as it is typed.
func (t Thing) String() string { return things[t] }

// Declared is how a server's state tells who holds what. The zero value declares nothing.
type Declared struct {
	thing    Thing
	name     string // with {name}
	numbered bool
}

// Thing is what holds a lock.
func (d Declared) Thing() Thing { return d.thing }

// Numbered reports whether the thing's name tells the slot.
func (d Declared) Numbered() bool { return d.numbered }

// String is the declaration as it is typed, "" for none.
func (d Declared) String() string {
	if d.thing == Nothing {
		return ""
	}
	return d.thing.String() + " " + d.name
}

// Named is what the thing is called for a lock and a slot.
func (d Declared) Named(lock string, slot int) string {
	return strings.NewReplacer("{{", "{", "}}", "}", "{name}", lock,
		"{slot}", strconv.Itoa(slot), "{slot-1}", strconv.Itoa(slot-1)).Replace(d.name)
}

const (
	lockName  = "{name}"
	usualName = "jobs" // as locks are called wherever they are shown
	// longestName is how many bytes of a name are read: as many as a queue's may have.
	longestName = 255
)

// slotNumbers are how a name may tell the slot.
var slotNumbers = []string{"{slot}", "{slot-1}"}

// inBraces is what braces may mean in a name; a single one means nothing.
var inBraces = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}|[{}]`)

// Parse reads a declaration as it is typed; "" declares nothing.
func Parse(text string) (Declared, error) {
	if strings.TrimSpace(text) == "" {
		return Declared{}, nil
	}
	d, err := parse(text)
	if err != nil {
		return Declared{}, fmt.Errorf("holding %q: %w", text, err)
	}
	return d, nil
}

func parse(text string) (d Declared, err error) {
	text = strings.TrimSpace(text)
	word := strings.FieldsFunc(text, unicode.IsSpace)[0]
	thing := slices.Index(things[:], word)
	d.name = strings.TrimSpace(strings.TrimPrefix(text, word))
	switch {
	case thing < int(Queue):
		return d, fmt.Errorf("%q is none of queue, message, absent and consumer: say which holds the lock, and its name, such as queue jobs-{slot}", word)
	case d.name == "":
		return d, fmt.Errorf("a name is missing: say what the %s is called, such as %s jobs-{slot}", word, word)
	case len(d.name) > longestName:
		return d, fmt.Errorf("a name of %d bytes: expected at most %d", len(d.name), longestName)
	case strings.ContainsFunc(d.name, unicode.IsControl):
		return d, errors.New("a control character in the name: expected letters, digits and the like")
	}
	d.thing = Thing(thing)
	named := false
	for _, at := range inBraces.FindAllString(d.name, -1) {
		switch {
		case at == lockName:
			named = true
		case slices.Contains(slotNumbers, at):
			d.numbered = true
		case at != "{{" && at != "}}":
			return d, fmt.Errorf("%s is none of {name}, {slot} and {slot-1}: braces of the name itself are doubled", at)
		}
	}
	if !named && !strings.Contains(d.name, usualName) {
		return d, errors.New("expected the lock's name in it, as {name}, or as jobs: other locks have other things")
	}
	if !named {
		d.name = strings.Replace(d.name, usualName, lockName, 1)
	}
	return d, nil
}

// Hold is a client that holds a slot, as the server's state tells.
type Hold struct {
	// Client is its number, with the bit [monitor.HalfOpen] where it has given up the connection that holds; 0 is none that plays,
	// [Anybody] one that is not known.
	Client uint8
	Slot   uint8 // 0 is any
}

// Anybody is a client of a [Hold] that is not known.
const Anybody = 0x7f
