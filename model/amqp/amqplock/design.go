package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Design describes a target's machines: [Target.Design].
type Design struct {
	// Naming names the queues; nil is the reference's [Names].
	Naming Naming
	// Variant, if not nil, wraps the reference: with a bug, or with a user's own rules.
	Variant func(*Protocol) Implementation
}

// DesignOf is a target's design.
func DesignOf(t *lock.Target) Design {
	d, _ := t.Design.(Design)
	return d
}

// LayoutOf interns the target's names for the queues of one lock.
func LayoutOf(t *lock.Target, names *amqp.Names, name string, slots int) *Layout {
	naming := DesignOf(t).Naming
	if naming == nil {
		naming = Names
	}
	return NewLayout(names, naming, name, slots)
}

// New makes a target's implementation for one lock, with the options o after the target's Fix.
func New(t *lock.Target, o lock.Options, layout *Layout) Implementation {
	p := &Protocol{Kind: t.Kind, Options: Table.Of(t.Settled(o)), Layout: layout}
	if variant := DesignOf(t).Variant; variant != nil {
		return variant(p)
	}
	return p
}

// References are the reference locks, one of each type of the guidelines.
var References = []*lock.Target{
	{Name: "semaphore", Kind: lock.Semaphore, Doc: "persistent semaphore: A queues are slots, exclusive B queues are holders"},
	{Name: "mutex", Kind: lock.Mutex, Doc: "true mutex: one exclusive queue, no administration"},
	{Name: "persistent-mutex", Kind: lock.PersistentMutex, Doc: "persistent mutex: a semaphore of one, and the cheaper path that it allows"},
}
