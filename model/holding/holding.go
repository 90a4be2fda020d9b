// Package holding parses a user's declaration of what on the server shows that a client holds an external lock. With a
// declaration, a wrong belief is found as soon as it begins, and diagrams show who holds what. No verdict depends on
// it.
//
//	queue {name}-{slot}     the owner of the exclusive queue holds the slot
//	message {name}.tokens   a client that has received a message of the queue, and has not acknowledged it, holds a slot
//	absent {name}.token     some client holds the lock while a message is missing from the queue
//	consumer {name}.active  a consumer of the queue holds a slot, unless it waits to be the single active consumer
//
// {name} is the lock's name, {slot} the slot's number, and {slot-1} that number minus 1; {{ and }} are braces. Without
// {name}, the first "jobs" stands for the name, so that jobs-{slot} means {name}-{slot}: locks are called jobs in all
// examples and reports. Without {slot}, all slots have the same name: the server then shows which clients hold the
// lock, but not which slots.
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

// Thing is the kind of thing on a server whose owner holds a lock, such as a queue.
type Thing uint8

// The kinds of things. Nothing means that nothing is declared.
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

// Declared is a parsed declaration: the kind and name of the thing whose owner holds a lock. The zero value declares
// nothing.
type Declared struct {
	thing    Thing
	name     string // the thing's name, with placeholders such as {name}
	numbered bool
}

// Thing is the declared kind of thing.
func (d Declared) Thing() Thing { return d.thing }

// Numbered reports whether the thing's name has a placeholder for the slot.
func (d Declared) Numbered() bool { return d.numbered }

// String is the declaration as the user writes it, "" for none.
func (d Declared) String() string {
	if d.thing == Nothing {
		return ""
	}
	return d.thing.String() + " " + d.name
}

// Named is the name of the thing for the lock with the given name and the slot with the given number.
func (d Declared) Named(lock string, slot int) string {
	return strings.NewReplacer("{{", "{", "}}", "}", "{name}", lock,
		"{slot}", strconv.Itoa(slot), "{slot-1}", strconv.Itoa(slot-1)).Replace(d.name)
}

const (
	lockName  = "{name}"
	usualName = "jobs" // the name that locks have in examples and reports
	// longestName is the maximum length of a name in bytes, which is that of a queue's name.
	longestName = 255
)

// slotNumbers are the placeholders for the slot's number.
var slotNumbers = []string{"{slot}", "{slot-1}"}

// inBraces matches placeholders and braces in a name. A single brace is invalid.
var inBraces = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}|[{}]`)

// Parse parses the text of a declaration. "" declares nothing.
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

// Hold says that, by the server's state, a client holds a slot.
type Hold struct {
	// Client is the client's number. The bit [monitor.HalfOpen] is set if the client no longer uses the connection that
	// holds. 0 is a client outside of the execution, and [Anybody] an unknown client.
	Client uint8
	Slot   uint8 // 0 if the slot is unknown
}

// Anybody is the Client of a [Hold] whose client is unknown.
const Anybody = 0x7f
