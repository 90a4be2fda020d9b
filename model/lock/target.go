package lock

import "fmt"

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

// Set is options with some of them set otherwise, as the target runs with them. An option that the target itself sets to
// another value is an error: what is judged has every option that was asked for.
func (t *Target) Set(o Options, pairs [][2]string) (Options, error) {
	o, err := SetOptions(o, pairs)
	if err != nil {
		return nil, err
	}
	settled := t.Settled(o)
	for _, p := range Renamed(o, pairs) {
		if has := settled.Value(p[0]); has != o.Value(p[0]) {
			return nil, fmt.Errorf("option %s=%s: %s is a lock with %[1]s=%[4]s; leave the option out, or name another target", p[0], p[1], t.Name, has)
		}
	}
	return settled, nil
}
