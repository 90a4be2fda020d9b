package lock

import "fmt"

// Target is a lock to be judged: the reference, or a variant.
type Target struct {
	Name string
	Doc  string // one line
	Kind Kind
	// Backend is the name of the lock's kind of server; "" is AMQP.
	Backend string
	// Traits are the lock's special features.
	Traits Traits
	// Offers are the operations of the lock; nil means those of its kind, and Refresh if it has leases.
	Offers []Op
	// Breaks is the property that a mutant violates; "" for a lock that should violate none.
	Breaks string
	// Fix overrides a scenario's options with those that define the target. It may be nil. See [Table.Fix].
	Fix func(Options) Options
	// Skips says which properties do not apply to the target, with the reasons, by the properties' names.
	// [Backend.Skips] adds to it.
	Skips map[string]string
	// Design is the backend's own description of the target's machines; nil is the reference.
	Design any
}

// Operations are the operations that the target offers.
func (t *Target) Operations() []Op {
	switch {
	case t.Offers != nil:
		return t.Offers
	case t.Traits.Has(Leases):
		return append(t.Kind.Operations(), Refresh)
	}
	return t.Kind.Operations()
}

// Settled are a scenario's options after the target's Fix.
func (t *Target) Settled(o Options) Options {
	if t.Fix != nil {
		return t.Fix(o)
	}
	return o
}

// Set changes some of the options, and applies the target's Fix. It is an error if Fix gives one of them another
// value, since the judged lock must have every option that was asked for.
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
