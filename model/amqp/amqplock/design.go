package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Design is what a target's machines are made of: [Target.Design].
type Design struct {
	// Naming is nil for the reference's, [Names].
	Naming Naming
	// Variant, where it is not nil, wraps the reference: with a bug, or with a user's own rules.
	Variant func(*Protocol) Implementation
}

// DesignOf is a target's design.
func DesignOf(t *lock.Target) Design {
	d, _ := t.Design.(Design)
	return d
}

// LayoutOf interns the names that a target gives to the queues of one lock.
func LayoutOf(t *lock.Target, names *amqp.Names, name string, slots int) *Layout {
	naming := DesignOf(t).Naming
	if naming == nil {
		naming = Names
	}
	return NewLayout(names, naming, name, slots)
}

// New makes a target's implementation for one lock, with the options that it settles for.
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
