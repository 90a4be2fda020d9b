package spec

import "fmt"

// Strength is what an acquire that failed because the lock was full is taken to promise.
type Strength uint8

// The strengths.
const (
	// Scan is what the guidelines' algorithm can promise, as it looks at slot by slot: each slot was
	// taken, or did not exist, at some moment of the call.
	Scan Strength = iota
	// Strict is that at one moment of the call every slot was taken.
	Strict
)

var strengthNames = [...]string{"scan", "strict"}

// String is the strength's name.
func (s Strength) String() string { return strengthNames[s] }

// StrengthNamed is the strength with that name.
func StrengthNamed(name string) (Strength, error) {
	for s, n := range strengthNames {
		if n == name {
			return Strength(s), nil
		}
	}
	return 0, fmt.Errorf("strength %q: expected one of %q", name, strengthNames)
}

// Releases is who may release a lock.
type Releases uint8

// The readings of a release.
const (
	// ByHolder is that only who holds the lock releases it, as owner-aware models of Jepsen's have it.
	ByHolder Releases = iota
	// ByAnyone is that whoever releases it gives back what anybody holds, as Knossos' mutex has it. While
	// nobody holds it there is nothing to release.
	ByAnyone
)

var releasesNames = [...]string{"reject", "allow"}

// String is what becomes of releases by others.
func (r Releases) String() string { return releasesNames[r] }

// ReleasesNamed is the reading with that name.
func ReleasesNamed(name string) (Releases, error) {
	for r, n := range releasesNames {
		if n == name {
			return Releases(r), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, releasesNames)
}

// FailedRelease is what a release that failed says of who called it.
type FailedRelease uint8

// The readings of a release that failed.
const (
	// EndsBelief is that its client does not believe any more that it holds the lock, as it wanted to be
	// rid of it.
	EndsBelief FailedRelease = iota
	// KeepsBelief is that its client goes on believing so.
	KeepsBelief
)

var failedReleaseNames = [...]string{"ends", "keeps"}

// String is what becomes of the belief.
func (f FailedRelease) String() string { return failedReleaseNames[f] }

// FailedReleaseNamed is the reading with that name.
func FailedReleaseNamed(name string) (FailedRelease, error) {
	for f, n := range failedReleaseNames {
		if n == name {
			return FailedRelease(f), nil
		}
	}
	return 0, fmt.Errorf("%q: expected one of %q", name, failedReleaseNames)
}

// Decision is what a check of a history came to. Nothing is claimed by default.
type Decision uint8

// The decisions.
const (
	Undecided Decision = iota // the reason is in Why
	Legal
	Illegal
)

// String is the decision in one word.
func (d Decision) String() string { return [...]string{"undecided", "legal", "illegal"}[d] }

// LinearizableOptions are the choices that checking a history leaves open.
type LinearizableOptions struct {
	Strength Strength
	// Permits is how many there are of a lock whose history does not name slots ([AnySlot]); 0 is the
	// number of slots that the history begins with. A mutex has one.
	Permits int
	// Releases is who may release a lock.
	Releases Releases
	// Failed is what a release that failed says of who called it, beside linearizability, for which it had
	// no effect.
	Failed FailedRelease
	// Steps is how many the search may take over a lock that the fast check leaves undecided; 0 is
	// [DefaultSteps].
	Steps int
}

// Finding is what checking the linearizability of a history came to. A history of several locks is
// as good as the worst of them.
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

// What can decide.
const (
	byFastCheck = "fast check"
	bySearch    = "search"
)

// CheckLinearizable decides whether a history is a linearizable history of the sequential
// specification; [Specification] says what that is.
func CheckLinearizable(h *History, o LinearizableOptions) Finding {
	return new(Checker).Linearizable(h, o)
}

// Checker checks histories one after the other in memory that it uses again. The zero value is ready.
// It is not safe for concurrent use.
type Checker struct {
	resolver resolver
	sweep    sweep
	permits  permits
}

// Linearizable is [CheckLinearizable].
func (c *Checker) Linearizable(h *History, o LinearizableOptions) Finding {
	sum := Finding{Decision: Legal, Event: -1, How: byFastCheck}
	for l := range h.Locks {
		f := c.lock(h, l, o)
		if f.Decision == Illegal {
			return f
		}
		switch {
		case sum.Decision == Undecided:
		case f.Decision == Undecided:
			sum = f
		case f.How == bySearch:
			sum.How = bySearch
		}
	}
	return sum
}

// lock checks one lock of a history: the fast check first, then the search for what it leaves.
func (c *Checker) lock(h *History, l int, o LinearizableOptions) Finding {
	if err := c.resolver.resolve(h, l, o); err != nil {
		return Finding{Lock: l, Event: err.Event, Why: err.Error(), How: byFastCheck}
	}
	if c.resolver.inconsistent() {
		return Finding{Lock: l, Event: -1, Why: "some operations name slots and others do not", How: byFastCheck}
	}
	f := c.fast(o)
	if f.Decision == Undecided {
		f = c.slow(f, o)
	}
	f.Lock = l
	return f
}

// anyone is the finding of the fast check, which knows nothing of those who release what is not theirs.
var anyone = Finding{Event: -1, How: byFastCheck, Why: "anyone may have released it"}

// fast checks the lock that the resolver has at hand.
func (c *Checker) fast(o LinearizableOptions) Finding {
	switch {
	case o.Releases == ByAnyone:
		return anyone
	case c.resolver.unnamed:
		return c.permits.run(&c.resolver, o.Strength)
	}
	return c.sweep.run(&c.resolver, o.Strength)
}
