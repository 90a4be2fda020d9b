package property

import (
	"errors"
	"fmt"
	"iter"
)

// Property is the number of a requirement that executions of a lock must meet.
type Property uint8

// The properties, in the order of reports.
const (
	MutualExclusion Property = iota
	Linearizable
	NoPhantomSlot
	NoFalseHold
	HonestVerify
	StaleBeliefEnds
	ContiguousSlots
	ExactCount
	AdminExclusion
	RemovalDrains
	EffectiveRelease
	CrashFrees
	NoLeak
	SurvivesRestart
	Progress
	CheapAcquire
	CheapVerify
	MinimalDriver
	NameSafety
	NoCrash
	LeaseRespected
	LimitRespected
	HonestFull
	RenewalHonest
	PriorityRespected
	VictimAcknowledged
	FencingMonotone
	LossTold
	FreesAtOnce
	Count // number of built-in properties; custom ones are numbered from here: see package own
)

// Most is the maximum number of properties in a [Set], including custom ones.
const Most = 64

// Evidence is the kind of evidence by which a property is judged.
type Evidence uint8

// The kinds of evidence.
const (
	FromHistory  Evidence = iota // what clients observe: invocations and answers
	FromTruth                    // the server's state at every moment
	FromCommands                 // the commands that clients send
)

// String is the evidence in words.
func (e Evidence) String() string {
	return [...]string{"history", "the broker's truth", "commands"}[e]
}

// Description describes a property for readers.
type Description struct {
	Name     string
	Sentence string // the requirement, such as "no two clients hold one slot at once"
	Passage  string // where the guidelines or the specification state it
	Evidence Evidence
}

// Properties describes every property.
var Properties = [Count]Description{
	MutualExclusion: {"mutual-exclusion", "no two clients hold one slot at once",
		"Persistent Semaphore: \"each slot can only be held by one client\"", FromTruth},
	Linearizable: {"linearizable", "the history is a linearizable history of the sequential specification",
		"Lock Requirements: \"as correct as possible\"", FromHistory},
	NoPhantomSlot: {"no-phantom-slot", "nobody is granted a slot that did not exist at any moment of the call",
		"Acquiring a Lock, step 2", FromTruth},
	NoFalseHold: {"no-false-hold", "removing and re-adding a slot never lets a new client hold it while the old holder still does",
		"Lock Requirements, remotely administerable", FromTruth},
	HonestVerify: {"honest-verify", "verify says held only if the slot exists and this client still owns it",
		"Verifying a Held Lock", FromTruth},
	StaleBeliefEnds: {"stale-belief-ends", "a client whose connection the broker has dropped learns it from its next verify",
		"Verifying a Held Lock, \"if the lock and/or their channel/connection are still valid\"", FromTruth},
	ContiguousSlots: {"contiguous-slots", "with no administrative operation under way, the slots are exactly 1 to C as administered: no holes",
		"Linear Ordering, \"Swiss Cheese Semaphores\"", FromTruth},
	ExactCount: {"exact-count", "count returns a number that was right at some moment of the call",
		"Determining the Maximum Number of Slots", FromTruth},
	AdminExclusion: {"admin-exclusion", "administrative operations of one semaphore never interleave",
		"Administration Mutex", FromTruth},
	RemovalDrains: {"removal-drains", "a removed slot is never granted again; its holder keeps it until it releases or fails to verify",
		"Removing Slots; Waiting on Lock Holders", FromTruth},
	EffectiveRelease: {"effective-release", "after release returns, the slot can be acquired",
		"Relinquishing a Lock", FromTruth},
	CrashFrees: {"crash-frees", "a crashed client's slots become free once the broker notices",
		"Relinquishing a Lock, \"close its connection (via disconnect or crash)\"", FromTruth},
	NoLeak: {"no-leak", "no queue and no message is left behind by what is over",
		"\"A\" and \"B\" Queues", FromTruth},
	SurvivesRestart: {"survives-restart", "after a broker restart the slots are there and no holder is",
		"\"A\" and \"B\" Queues: A queues persist, B queues are exclusive", FromTruth},
	Progress: {"progress", "a free slot is found; retries are bounded; nothing waits for what nobody does",
		"Acquiring a Lock, step 6", FromTruth},
	CheapAcquire: {"cheap-acquire", "acquire stays within its round trips, opens no channel but to mend one, and never reconnects",
		"Lock Requirements, cheap to acquire", FromCommands},
	CheapVerify: {"cheap-verify", "verify takes one round trip and opens nothing",
		"Lock Requirements, cheap to verify", FromCommands},
	MinimalDriver: {"minimal-driver", "only basic.publish, confirms, queue.declare and queue.delete are used",
		"Limitation Tolerance", FromCommands},
	NameSafety: {"name-safety", "no lock's queue is another's",
		"\"A\" and \"B\" Queues: names that cannot collide", FromCommands},
	NoCrash: {"no-crash", "no call makes the client panic, exit or throw",
		"Lock Requirements: \"as correct as possible\"", FromHistory},
	LeaseRespected: {"lease-respected", "nobody else is granted what is held before its holder's lease has ended, by the server's clock",
		"database-semaphore, Lock timeouts: \"risk that another worker could start while the original worker is still working\"", FromTruth},
	LimitRespected: {"limit-respected", "no grant makes more holders than the limit that its caller stated, or the server has",
		"database-semaphore, Example: \"never more than twenty instance of 'foo' running across the cluster concurrently\"", FromTruth},
	HonestFull: {"honest-full", "who is refused was so at a moment of the call when as many held the lock as may, or each slot was held at one",
		"database-semaphore, Non-Blocking: \"will fail quickly if a lock is unavailable\"", FromTruth},
	RenewalHonest: {"renewal-honest", "a refresh that says held has extended a lease that was this client's own at some moment of the call",
		"database-semaphore, Lock timeouts: \"the worker to refresh the timeout as it makes progress\"", FromTruth},
	PriorityRespected: {"priority-respected", "nobody takes the lock from a holder of the same or a higher priority, or is refused for one of a lower",
		"Priority Lock, Modification to Redlock's aquire: \"a process of equal priority not be able to steal locks from equal processes\"", FromTruth},
	VictimAcknowledged: {"victim-acknowledged", "who takes the lock from others holds it once each of them has acknowledged that, or its lease has ended",
		"Priority Lock, Modification to Redlock's aquire: \"not acting upon the lock until confirming with the victim\"", FromTruth},
	FencingMonotone: {"fencing-monotone", "the fencing tokens of successive grants grow",
		"Kleppmann, How to do distributed locking: \"a number that increases every time a client acquires the lock\"", FromTruth},
	LossTold: {"loss-told", "who tells of a lost lock has lost it, and who loses the lock to somebody else tells of it",
		"Lock Requirements: \"as correct as possible\"", FromHistory},
	FreesAtOnce: {"frees-at-once", "where nobody holds the lock any more, it is got before any lease ends",
		"Lock Requirements: \"as correct as possible\"", FromHistory},
}

// String is the property's name.
func (p Property) String() string {
	if p < Count {
		return Properties[p].Name
	}
	return "unknown"
}

// Own reports whether it is a custom property. Its name is in an [github.com/lockproof/lockproof/model/own.List].
func (p Property) Own() bool { return p >= Count }

// Evidence is the evidence by which the property is judged. For a custom property this is unknown.
func (p Property) Evidence() Evidence {
	if p.Own() {
		return FromTruth
	}
	return Properties[p].Evidence
}

// ErrUnknown is the error, possibly wrapped, if no property has a given name.
var ErrUnknown = errors.New("not known")

// Named is the property with that name.
func Named(name string) (Property, error) {
	for p := range Count {
		if Properties[p].Name == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("property %q is %w", name, ErrUnknown)
}

// Set is a set of properties.
type Set uint64

// Has reports whether a property is in the set.
func (s Set) Has(p Property) bool { return s&(1<<p) != 0 }

// With is the set and one property more.
func (s Set) With(p Property) Set { return s | 1<<p }

// All yields the properties of the set in the order of their numbers, so that custom ones come last.
func (s Set) All() iter.Seq[Property] {
	return func(yield func(Property) bool) {
		for p := range Property(Most) {
			if s.Has(p) && !yield(p) {
				return
			}
		}
	}
}

// Names are the names of the set's properties, in the order of reports.
func (s Set) Names() (names []string) {
	for p := range Count {
		if s.Has(p) {
			names = append(names, p.String())
		}
	}
	return names
}
