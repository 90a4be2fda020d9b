package gated

import (
	"cmp"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Lock is an external lock and its server.
type Lock struct {
	// Starter starts clients of the lock.
	Starter foreign.Starter
	// Exec is the command of the clients, for counterexamples; "" if there is none.
	Exec string
	// Name is the name of the target; "" is the name that its clients give.
	Name string
	// Kind is the type as which the lock is judged.
	Kind lock.Kind
	// Options are options of the target.
	Options map[string]string
	// Demands are the promises that the lock's contract demands. If the lock breaks another promise, that is reported, but
	// is not a failure.
	Demands property.Set
	// Holding declares how the server shows who holds the lock. Nothing else depends on it.
	Holding holding.Declared
	// On is the server behind the gate.
	On Server
	// Patience is how long a client may send nothing before the others go on without it; 0 is 2 seconds. If that happens, an
	// exploration is not complete.
	Patience time.Duration
}

// Server describes the server behind the gate. The zero value is the simulated broker.
type Server struct {
	// Kind is one of [Kinds]; "" is AMQP.
	Kind string
	// Servers is the number of independent servers; 0 is one.
	Servers int
	// Name is the server's name in reports; "" is the simulated broker.
	Name string
	// Open opens the server for one worker; nil is the simulated broker.
	Open func() (gate.Server, error)
	// Shared says that all workers use the same server, perhaps together with others.
	Shared bool
	// Unseen describes, in a sentence, what is unknown about the server; "" is nothing.
	Unseen string
}

// String is the name of the server.
func (s Server) String() string { return cmp.Or(s.Name, engine.Simulated) }

// meaningless are the properties that do not apply to the server: which commands every driver has is defined for AMQP only.
func (s Server) meaningless() property.Set {
	if s.Kind == "" || s.Kind == AMQP {
		return 0
	}
	return property.Set(0).With(property.MinimalDriver)
}

// open opens the server.
func (s Server) open() (gate.Server, error) {
	if s.Open == nil {
		return plugin.Simulated()
	}
	return s.Open()
}
