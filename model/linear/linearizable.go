package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// Decision is the decision of a check. The zero value claims nothing.
type Decision uint8

// The decisions.
const (
	Undecided Decision = iota // the reason is in Why
	Legal
	Illegal
)

// String is the decision in one word.
func (d Decision) String() string { return [...]string{"undecided", "legal", "illegal"}[d] }

// Options are the choices that checking a history leaves open.
type Options struct {
	FailedAcquire property.FailedAcquire
	// Permits is how many there are of a lock whose history does not name slots ([AnySlot]); 0 is the
	// number of slots that the history begins with. A mutex has one.
	Permits int
	// Releases is who may release a lock.
	Releases Releases
	// FailedRelease is what a failed release says of its caller's belief. For linearizability it had no effect.
	FailedRelease FailedRelease
	// Steps is how many the search may take over a lock that the fast check leaves undecided; 0 is
	// [DefaultSteps].
	Steps int
}

// Finding is the result of checking a history. A history of several locks has the worst of their decisions.
type Finding struct {
	Decision Decision
	// Lock is the one concerned, where there is one to point at.
	Lock int
	// Event is the index of the event at which no explanation of the history was left; -1 if there
	// always was one, or the event is not known.
	Event int
	Slot  int    // the slot concerned; 0 is none
	Why   string // one line for people; empty for Legal
	How   string // what decided: "fast check" or "search"
}

// Verdict is what a history says of one property.
type Verdict struct {
	Property property.Property
	Decision Decision
	Checked  int    // how often the history put it to the test
	Event    int    // the event that breaks it; -1 for none
	Why      string // one line for people; empty for Legal
	// Unjudged is why the history says nothing of its lock, as nothing was answered; "" where it says something.
	Unjudged string
	// Lock and Slot are what a history that is not linearizable is about; Slot is 0 where it is no slot in particular.
	Lock, Slot int
}

// Verdict is the finding as a verdict on linearizability; operations is their number.
func (f Finding) Verdict(operations int) Verdict {
	return Verdict{Property: property.Linearizable, Decision: f.Decision, Checked: operations, Event: f.Event, Why: f.Why, Lock: f.Lock, Slot: f.Slot}
}

// The names of the deciding checks.
const (
	byFastCheck = "fast check"
	bySearch    = "search"
)

// Check decides whether a history is a linearizable history of the sequential
// specification; [Specification] says what that is.
func Check(h *history.History, o Options) Finding {
	return new(Checker).Linearizable(h, o)
}

// Checker checks histories one after the other in memory that it uses again. The zero value is ready.
// It is not safe for concurrent use.
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

// lock checks one lock of a history: the fast check first, then the search for what it leaves.
func (c *Checker) lock(h *history.History, l int, o Options) Finding {
	if err := c.normaliser.normalise(h, l, o); err != nil {
		return Finding{Lock: l, Event: err.Event, Why: err.Error(), How: byFastCheck}
	}
	return c.decide(l, o)
}

// decide checks the lock whose whole history the normaliser has.
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

// of is the finding of a lock.
func (f Finding) of(lock int) Finding {
	f.Lock = lock
	return f
}

// inconsistent is the finding where only some operations name slots.
var inconsistent = Finding{Event: -1, Why: "some operations name slots and others do not", How: byFastCheck}

// anyone is the finding of the fast check if clients release other clients' slots, which it does not support.
var anyone = Finding{Event: -1, How: byFastCheck, Why: "anyone may have released it"}

// fast checks the lock that the normaliser has at hand.
func (c *Checker) fast(o Options) Finding {
	switch {
	case o.Releases == ByAnyone:
		return anyone
	case c.normaliser.unnamed:
		return c.permits.run(&c.normaliser, o.FailedAcquire)
	}
	return c.frontier.run(&c.normaliser, o.FailedAcquire)
}
