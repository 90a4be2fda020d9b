package lock

import "github.com/lockproof/lockproof/model/amqp"

// Target is a lock to be judged: the reference, or a variant.
type Target struct {
	Name string
	Doc  string // one line
	Kind Kind
	// Backend is the kind of server that it stands on; "" is AMQP.
	Backend string
	// Traits are what its locks have that not every lock has.
	Traits Traits
	// Offers are the operations that it has; nil is those of its kind, and Refresh where it has leases.
	Offers []Op
	// Breaks is the property that a mutant breaks; "" for a lock that should break none.
	Breaks string
	// Fix sets the options that make the target what it is, over those of a scenario. It may be nil. See [Table.Fix].
	Fix func(Options) Options
	// Skips says which properties mean nothing for the target, by their names, and why. [Backend.Skips] adds to it.
	Skips map[string]string
	// Naming is nil for the reference's, [Names].
	Naming Naming
	// Variant, where it is not nil, wraps the reference with a bug.
	Variant func(*Protocol) Implementation
}

// Layout interns the names that the target gives to the queues of one lock.
func (t *Target) Layout(names *amqp.Names, name string, slots int) *Layout {
	naming := t.Naming
	if naming == nil {
		naming = Names
	}
	return NewLayout(names, naming, name, slots)
}

// Operations are those that the target offers.
func (t *Target) Operations() []Op {
	switch {
	case t.Offers != nil:
		return t.Offers
	case t.Traits.Has(Leases):
		return append(t.Kind.Operations(), Refresh)
	}
	return t.Kind.Operations()
}

// Settled are the options of a scenario as the target runs with them.
func (t *Target) Settled(o Options) Options {
	if t.Fix != nil {
		return t.Fix(o)
	}
	return o
}

// New makes the target's implementation for one lock, with the options that it settles for.
func (t *Target) New(o Options, layout *Layout) Implementation {
	p := &Protocol{Kind: t.Kind, Options: AMQP.Of(t.Settled(o)), Layout: layout}
	if t.Variant != nil {
		return t.Variant(p)
	}
	return p
}

// References are the reference locks, one of each type of the guidelines.
var References = []*Target{
	{Name: "semaphore", Kind: Semaphore, Doc: "persistent semaphore: A queues are slots, exclusive B queues are holders"},
	{Name: "mutex", Kind: Mutex, Doc: "true mutex: one exclusive queue, no administration"},
	{Name: "persistent-mutex", Kind: PersistentMutex, Doc: "persistent mutex: a semaphore of one, and the cheaper path that it allows"},
}
