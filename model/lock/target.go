package lock

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
	// Design is what the backend makes the target's machines of, in a type of its own; nil is its reference.
	Design any
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
