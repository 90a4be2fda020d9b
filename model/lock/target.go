package lock

import "fmt"

// Target is a lock to be judged: a reference, a mutant, or a user's own variant of the reference.
type Target struct {
	Name string
	Doc  string // description in one line
	Kind Kind
	// Backend is the name of the lock's kind of server; "" is AMQP.
	Backend string
	// Traits are special features of the lock, such as leases.
	Traits Traits
	// Offers are the operations that the lock has. nil means those of its Kind and, if it has leases, Refresh.
	Offers []Op
	// Breaks is the name of the property that a mutant violates; "" if the lock should violate none.
	Breaks string
	// Fix sets those options that define the target, and leaves the others as the scenario has them. nil changes none.
	// See [Table.Fix].
	Fix func(Options) Options
	// Skips are the properties, by name, that do not apply to the target, each with the reason. [Backend.Skips] has
	// further ones.
	Skips map[string]string
	// Design is the backend's description of how the target's machines differ from the reference; nil means that they
	// do not.
	Design any
}

// Operations are the operations that the target's clients can call.
func (t *Target) Operations() []Op {
	switch {
	case t.Offers != nil:
		return t.Offers
	case t.Traits.Has(Leases):
		return append(t.Kind.Operations(), Refresh)
	}
	return t.Kind.Operations()
}

// Settled are the scenario's options o after the target's Fix.
func (t *Target) Settled(o Options) Options {
	if t.Fix != nil {
		return t.Fix(o)
	}
	return o
}

// Set returns o with some options changed, after the target's Fix. It returns an error if Fix sets one of these options
// to another value, since the lock would then not be the one that the user asked for.
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
