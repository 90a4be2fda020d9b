package lockproof

import (
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/protocol"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Protocol makes a Target of a lock that is a state machine, such as a struct that embeds the reference and overrides
// one of its methods. A machine must decide by its own state only, not by a clock or at random. model/amqp/amqplock has
// the types.
func Protocol(name string, k Kind, variant func(reference *amqplock.Protocol) amqplock.Implementation) Target {
	t := Target{name: name, kind: k, machine: func(k lock.Kind) (*lock.Target, *protocol.Guard) { return protocol.New(name, k, variant) }}
	if _, err := engine.TargetNamed(name); err == nil || name == "" || variant == nil {
		t.err = invalid("protocol %q: expected a name that no target of this module has, and a function that makes it", name)
	}
	return t
}
