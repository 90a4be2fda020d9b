// Package holding parses a user's declaration of how a server's state shows that a client holds a lock. With it, a
// wrong belief is found as soon as it begins, and diagrams show who holds what. No verdict needs it.
//
//	queue {name}-{slot}     the owner of the exclusive queue holds the slot
//	message {name}.tokens   a client that has received a message of the queue, and has not acknowledged it, holds a slot
//	absent {name}.token     some client holds the lock while a message is missing from the queue
//	consumer {name}.active  a consumer of the queue holds a slot, unless it waits to be the single active consumer
//
// {name} is the lock's name and {slot} the slot's number; {slot-1} counts from 0; {{ and }} are braces. If there is
// no {name}, the first jobs stands for the name, as in everything that is shown of locks: jobs-{slot} is
// {name}-{slot}. If there is no {slot}, slots are alike: the server then shows who holds the lock, but not which
// slot.
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

// Thing is the kind of thing on a server whose owner holds a lock.
type Thing uint8

// The things. Nothing is an empty declaration.
const (
	Nothing Thing = iota
	Queue
	Message
	Absent
	Consumer
)

var things = [...]string{Queue: "queue", Message: "message", Absent: "absent", Consumer: "consumer"}

// String is the thing as the user writes it.
func (t Thing) String() string { return things[t] }

// Declared says how a server's state shows who holds what. The zero value declares nothing.
type Declared struct {
	thing    Thing
	name     string // with {name}
	numbered bool
}

// Thing is the kind of thing that holds a lock.
func (d Declared) Thing() Thing { return d.thing }

// Numbered reports whether the thing's name includes the slot.
func (d Declared) Numbered() bool { return d.numbered }

// String is the declaration as the user writes it, "" for none.
func (d Declared) String() string {
	if d.thing == Nothing {
		return ""
	}
	return d.thing.String() + " " + d.name
}

// Named is the name of the thing for a lock and a slot.
func (d Declared) Named(lock string, slot int) string {
	return strings.NewReplacer("{{", "{", "}}", "}", "{name}", lock,
		"{slot}", strconv.Itoa(slot), "{slot-1}", strconv.Itoa(slot-1)).Replace(d.name)
}

const (
	lockName  = "{name}"
	usualName = "jobs" // the name of locks in everything shown
	// longestName is the longest name in bytes: that of a queue.
	longestName = 255
)

// slotNumbers are the placeholders for the slot.
var slotNumbers = []string{"{slot}", "{slot-1}"}

// inBraces finds placeholders and braces in a name; single braces are invalid.
var inBraces = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}|[{}]`)

// Parse parses a declaration as the user writes it; "" declares nothing.
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

// Hold is a slot with the client that holds it, according to the server's state.
type Hold struct {
	// Client is the client's number, with the bit [monitor.HalfOpen] if the client has given up the connection that
	// holds. 0 is no client of the execution; [Anybody] is an unknown client.
	Client uint8
	Slot   uint8 // 0 is any
}

// Anybody is the Client of a [Hold] whose client is unknown.
const Anybody = 0x7f
