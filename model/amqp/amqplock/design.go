package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Design is the value of [lock.Target.Design] for AMQP's locks: how the target's machines differ from the reference.
type Design struct {
	// Naming names the queues; nil means the reference's [Names].
	Naming Naming
	// Variant wraps the reference, to add a bug or a user's own rules; nil changes nothing.
	Variant func(*Protocol) Implementation
}

// DesignOf is a target's design. It is zero, which means the reference, if the target has none.
func DesignOf(t *lock.Target) Design {
	d, _ := t.Design.(Design)
	return d
}

// LayoutOf makes the queue names of one lock, as the target names queues, and interns them in names.
func LayoutOf(t *lock.Target, names *amqp.Names, name string, slots int) *Layout {
	naming := DesignOf(t).Naming
	if naming == nil {
		naming = Names
	}
	return NewLayout(names, naming, name, slots)
}

// New makes the implementation of one lock of a target. The target's Fix overrides some of the options o.
func New(t *lock.Target, o lock.Options, layout *Layout) Implementation {
	p := &Protocol{Kind: t.Kind, Options: Table.Of(t.Settled(o)), Layout: layout}
	if variant := DesignOf(t).Variant; variant != nil {
		return variant(p)
	}
	return p
}

// References are the reference locks, one for each lock type of the guidelines.
var References = []*lock.Target{
	{Name: "semaphore", Kind: lock.Semaphore, Doc: "persistent semaphore: A queues are slots, exclusive B queues are holders"},
	{Name: "mutex", Kind: lock.Mutex, Doc: "true mutex: one exclusive queue, no administration"},
	{Name: "persistent-mutex", Kind: lock.PersistentMutex, Doc: "persistent mutex: a semaphore of one, and the cheaper path that it allows"},
}
