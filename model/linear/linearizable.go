package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// Decision is the decision of a check. The zero value claims nothing.
type Decision uint8

// The decisions.
const (
	Undecided Decision = iota // Why has the reason
	Legal
	Illegal
)

// String is the decision in one word.
func (d Decision) String() string { return [...]string{"undecided", "legal", "illegal"}[d] }

// Options are choices about the meaning of a history.
type Options struct {
	FailedAcquire property.FailedAcquire
	// Permits is the number of permits of a lock whose history does not name slots ([AnySlot]); 0 is the initial
	// number of slots. A mutex has one.
	Permits int
	// Releases says who may release a lock.
	Releases Releases
	// FailedRelease says whether a failed release ends its caller's belief. For linearizability it has no effect.
	FailedRelease FailedRelease
	// Steps is the largest number of steps of the search, for a lock that the fast check leaves undecided; 0 is
	// [DefaultSteps].
	Steps int
}

// Finding is the result of checking a history. For several locks it has the worst of their decisions.
type Finding struct {
	Decision Decision
	// Lock is the lock concerned, if it is known.
	Lock int
	// Event is the index of the event at which the history had no explanation left; -1 if it always had one, or if
	// the event is not known.
	Event int
	Slot  int    // the slot concerned; 0 is none
	Why   string // one line for readers; empty for Legal
	How   string // the deciding check: "fast check" or "search"
}

// Verdict is the verdict of a history on one property.
type Verdict struct {
	Property property.Property
	Decision Decision
	Checked  int    // number of times that the history put the property to the test
	Event    int    // index of the event that violates the property; -1 for none
	Why      string // one line for readers; empty for Legal
	// Unjudged is the reason why the history does not put the property to the test, such as that nothing was
	// answered; "" if it does.
	Unjudged string
	// Lock and Slot are where a history is not linearizable; Slot is 0 if it is no particular slot.
	Lock, Slot int
}

// Verdict converts the finding to a verdict on linearizability; operations is the number of operations.
func (f Finding) Verdict(operations int) Verdict {
	return Verdict{Property: property.Linearizable, Decision: f.Decision, Checked: operations, Event: f.Event, Why: f.Why, Lock: f.Lock, Slot: f.Slot}
}

// The names of the deciding checks.
const (
	byFastCheck = "fast check"
	bySearch    = "search"
)

// Check decides whether a history is linearizable with respect to the sequential specification, which [Specification]
// describes.
func Check(h *history.History, o Options) Finding {
	return new(Checker).Linearizable(h, o)
}

// Checker checks histories one after the other, and reuses its memory. The zero value is ready. It is not safe for
// concurrent use.
type Checker struct {
	normaliser normaliser
	frontier   frontier
	permits    permits
}

// Linearizable is [Check].
func (c *Checker) Linearizable(h *history.History, o Options) Finding {
	sum := legal
	for l := range h.Locks {
		if sum = sum.and(c.lock(h, l, o)); sum.Decision == Illegal {
			break
		}
	}
	return sum
}

// and combines a finding with that of the next lock.
func (f Finding) and(next Finding) Finding {
	switch {
	case f.Decision == Illegal:
	case next.Decision == Illegal:
		return next
	case f.Decision == Undecided:
	case next.Decision == Undecided:
		return next
	case next.How == bySearch:
		f.How = bySearch
	}
	return f
}

// lock checks one lock of a history: the fast check first, then the search if the fast check does not decide.
func (c *Checker) lock(h *history.History, l int, o Options) Finding {
	if err := c.normaliser.normalise(h, l, o); err != nil {
		return Finding{Lock: l, Event: err.Event, Why: err.Error(), How: byFastCheck}
	}
	return c.decide(l, o)
}

// decide checks the normaliser's lock, whose whole history is in memory.
func (c *Checker) decide(l int, o Options) Finding {
	if c.normaliser.inconsistent() {
		return inconsistent.of(l)
	}
	f := c.fast(o)
	if f.Decision == Undecided {
		f = c.slow(f, o)
	}
	return f.of(l)
}

// of is the finding, about the given lock.
func (f Finding) of(lock int) Finding {
	f.Lock = lock
	return f
}

// inconsistent is the finding if only some operations name slots.
var inconsistent = Finding{Event: -1, Why: "some operations name slots and others do not", How: byFastCheck}

// anyone is the finding of the fast check if clients release other clients' slots, which it does not support.
var anyone = Finding{Event: -1, How: byFastCheck, Why: "anyone may have released it"}

// fast makes the fast check of the normaliser's current lock.
func (c *Checker) fast(o Options) Finding {
	switch {
	case o.Releases == ByAnyone:
		return anyone
	case c.normaliser.unnamed:
		return c.permits.run(&c.normaliser, o.FailedAcquire)
	}
	return c.frontier.run(&c.normaliser, o.FailedAcquire)
}
