package recognise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/lock"
)

// Naming is what a target calls the queues of its locks; what is left out is learnt. A is the queue that a slot exists
// by, or that has the messages or the consumer of those who hold it; B is the exclusive queue of a slot's holder, or of
// a mutex's. Admin is the exclusive queue of whoever administers.
type Naming struct{ A, B, Admin Pattern }

// ParseNaming reads names as they are typed: A={name}-A-{n} and the like, separated by commas.
func ParseNaming(text string) (n Naming, err error) {
	for _, one := range strings.Split(text, ",") {
		role, pattern, ok := strings.Cut(strings.TrimSpace(one), "=")
		var into *Pattern
		switch strings.ToLower(role) {
		case "a":
			into = &n.A
		case "b":
			into = &n.B
		case "admin":
			into = &n.Admin
		}
		if !ok || into == nil {
			return Naming{}, fmt.Errorf("names %q: expected A=, B= or admin=, each with the name of a queue, such as A={name}-A-{n}", one)
		}
		if *into, err = ParsePattern(pattern); err != nil {
			return Naming{}, err
		}
	}
	return n, nil
}

// String is the names as they are typed.
func (n Naming) String() string {
	var all []string
	for _, role := range []struct {
		name string
		Pattern
	}{{"A", n.A}, {"B", n.B}, {"admin", n.Admin}} {
		if role.Known() {
			all = append(all, role.name+"="+role.Text)
		}
	}
	return strings.Join(all, ",")
}

// Or fills in what is left out.
func (n Naming) Or(o Naming) Naming {
	pick := func(a, b Pattern) Pattern {
		if a.Known() {
			return a
		}
		return b
	}
	return Naming{pick(n.A, o.A), pick(n.B, o.B), pick(n.Admin, o.Admin)}
}

// Guided reports whether the queues of slots and of their holders are called A and B, as the guidelines have it, whatever else is
// in their names.
func (n Naming) Guided() bool {
	a, b := n.A.words(), n.B.words()
	at := slices.Index(a, "a")
	if at < 0 {
		return false
	}
	a[at] = "b"
	return slices.Equal(a, b)
}

// Guidelines are the names of the guidelines; see [amqplock.Names].
var Guidelines = Naming{mustParse("{name}-{n}-A"), mustParse("{name}-{n}-B"), mustParse("{name}-admin")}

func mustParse(text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		panic(err)
	}
	return p
}

// holding is what on the broker says who holds a slot.
type holding uint8

const (
	Unknown    holding = iota
	ByQueue            // whoever has an exclusive queue
	ByMessage          // whoever has a message of a queue and has not acknowledged it
	ByConsumer         // whoever consumes a queue
)

// Design is how a target holds its locks, as far as that is known.
type Design struct {
	Holding holding
	Naming
	Why  string // the design is not known
	Used string // the methods that clients use beside those of a minimal driver, "" where they use none
	Asks bool   // whether a queue is there by publishing to it, as the guidelines do
	// Single says that the messages of all slots are in one queue, and number which of them is which slot's.
	Single bool
	Number numbering
	// Active says that whoever holds the lock is the single active consumer of the queue as long. Where it is held by a message, only
	// that consumer is sent any: what others still have of them, and further messages, mean nothing beside that.
	Active bool
	// Bare says that the queues by which slots exist have no message when they are made, but one of whoever wants to hold the slot:
	// without any, nobody holds it.
	Bare bool
	// Filled says that the queues by which slots exist have messages, for something else, such as the next fencing token: a slot is
	// not there before its queue has one.
	Filled bool
	// Alike says of a semaphore that clients are told the same of every slot: none has a number.
	Alike bool
}

// Known reports whether what the broker has of a lock is known.
func (d *Design) Known() bool { return d.Holding != Unknown }

// Shown reports whether a use shows that the lock's queues are called as those are by which the design was learnt.
func (d *Design) Shown(u *Use) bool {
	there := func(p Pattern) bool {
		_, ok := u.During[p.Queue(u.Lock, u.Slot)]
		return ok || !p.Known()
	}
	return there(d.A) && there(d.B)
}

// Channels reports whether what is held goes with a channel, and not only with its connection.
func (d *Design) Channels() bool { return d.Holding == ByMessage || d.Holding == ByConsumer }

// Permits reports whether slots are messages without numbers.
func (d *Design) Permits() bool { return d.Holding == ByMessage && d.Single && d.Number == noNumber }

// String says in a line what was recognised.
func (d *Design) String() string {
	of := func(p Pattern) string { return cmp.Or(p.Text, "?") }
	switch d.Holding {
	case ByQueue:
		said := "an exclusive queue, " + of(d.B)
		if d.A.Known() {
			said += "; a slot exists by the queue " + of(d.A)
		}
		if d.Admin.Known() {
			said += "; whoever administers has the exclusive queue " + of(d.Admin)
		}
		return said
	case ByMessage:
		if d.Permits() {
			return "any of the messages of the queue " + of(d.A) + ", not acknowledged"
		}
		if d.Single {
			return "the message of the queue " + of(d.A) + " that has the slot's number, not acknowledged"
		}
		if d.Active {
			return "a message of the queue " + of(d.A) + ", not acknowledged, which its single active consumer is sent"
		}
		return "a message of the queue " + of(d.A) + ", not acknowledged"
	case ByConsumer:
		if d.Active {
			return "the single active consumer of the queue " + of(d.A)
		}
		return "the consumer of the queue " + of(d.A)
	}
	return "something that is not known: " + d.Why
}

// Words says what makes a client a holder.
func (d *Design) Words() (w lock.Words) {
	switch d.Holding {
	case ByMessage:
		w.Hold = "a message that is not acknowledged"
	case ByConsumer:
		w.Hold = "a consumer"
	}
	return w
}
