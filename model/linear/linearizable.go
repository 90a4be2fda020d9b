package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// Decision is the result of a check. The zero value, Undecided, claims nothing.
type Decision uint8

// The results of a check.
const (
	Undecided Decision = iota // Finding.Why says why
	Legal
	Illegal
)

// String is the decision as a word: "undecided", "legal" or "illegal".
func (d Decision) String() string { return [...]string{"undecided", "legal", "illegal"}[d] }

// Options say how a history is to be understood where this is a matter of choice.
type Options struct {
	FailedAcquire property.FailedAcquire
	// Permits is the number of permits of a lock whose history names no slots ([AnySlot]). 0 means the number of slots
	// before the first event. A mutex has one permit.
	Permits int
	// Releases says which clients may release a lock.
	Releases Releases
	// FailedRelease says whether a failed release ends its caller's belief that it holds the lock. It has no effect on
	// linearizability.
	FailedRelease FailedRelease
	// Steps is the largest number of steps of the search, which is used if the fast check is undecided. 0 means
	// [DefaultSteps].
	Steps int
}

// Finding is the result of checking a history. If the history has several locks, it is the finding on the lock with the
// worst decision.
type Finding struct {
	Decision Decision
	// Lock is the index of the lock; 0 if it is not known.
	Lock int
	// Event is the index of the first event that nothing explains. It is -1 if the history is not illegal, or if the
	// event is not known.
	Event int
	Slot  int    // number of the slot that the event concerns; 0 if none
	Why   string // explanation in one line; empty for Legal
	How   string // name of the check that decided: "fast check" or "search"
}

// Verdict says whether a history satisfies one property.
type Verdict struct {
	Property property.Property
	Decision Decision
	Checked  int    // number of times that the history puts the property to the test
	Event    int    // index of the event that violates the property; -1 if none does
	Why      string // explanation in one line; empty for Legal
	// Unjudged says why the history does not put the property to the test, for example because nothing was answered. It
	// is "" if the history does.
	Unjudged string
	// Lock and Slot say where the history is not linearizable. Slot is 0 if it is no particular slot.
	Lock, Slot int
}

// Verdict converts the finding to a verdict on linearizability. operations is the number of operations in the history.
func (f Finding) Verdict(operations int) Verdict {
	return Verdict{Property: property.Linearizable, Decision: f.Decision, Checked: operations, Event: f.Event, Why: f.Why, Lock: f.Lock, Slot: f.Slot}
}

// The names of the checks that decide.
const (
	byFastCheck = "fast check"
	bySearch    = "search"
)

// Check decides whether a history is linearizable. [Specification] describes the sequential specification of a lock.
func Check(h *history.History, o Options) Finding {
	return new(Checker).Linearizable(h, o)
}

// Checker checks one history after another and reuses its memory. The zero value is ready to use. A Checker is not safe
// for concurrent use.
type Checker struct {
	normaliser normaliser
	frontier   frontier
	permits    permits
}

// Linearizable decides like [Check], but reuses the Checker's memory.
func (c *Checker) Linearizable(h *history.History, o Options) Finding {
	sum := legal
	for l := range h.Locks {
		if sum = sum.and(c.lock(h, l, o)); sum.Decision == Illegal {
			break
		}
	}
	return sum
}

// and combines the findings on two locks. The worse decision wins.
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

// lock checks one lock of a history. If the fast check does not decide, the search does.
func (c *Checker) lock(h *history.History, l int, o Options) Finding {
	if err := c.normaliser.normalise(h, l, o); err != nil {
		return Finding{Lock: l, Event: err.Event, Why: err.Error(), How: byFastCheck}
	}
	return c.decide(l, o)
}

// decide checks lock l, which the normaliser has prepared with the whole history in memory.
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

// of returns the finding as one about the given lock.
func (f Finding) of(lock int) Finding {
	f.Lock = lock
	return f
}

// inconsistent is the finding if some operations name slots and others do not.
var inconsistent = Finding{Event: -1, Why: "some operations name slots and others do not", How: byFastCheck}

// anyone is the finding of the fast check if any client may release. The fast check does not support this.
var anyone = Finding{Event: -1, How: byFastCheck, Why: "anyone may have released it"}

// fast runs the fast check on the lock that the normaliser has prepared.
func (c *Checker) fast(o Options) Finding {
	switch {
	case o.Releases == ByAnyone:
		return anyone
	case c.normaliser.unnamed:
		return c.permits.run(&c.normaliser, o.FailedAcquire)
	}
	return c.frontier.run(&c.normaliser, o.FailedAcquire)
}
