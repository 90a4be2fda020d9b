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

// Lock is somebody's lock, and the server that it stands on.
type Lock struct {
	// Starter makes clients of the lock.
	Starter foreign.Starter
	// Exec is the command behind it, for counterexamples; "" where there is none.
	Exec string
	// Name is what the target is called; "" is what its clients call themselves.
	Name string
	// Kind is the type that the lock is taken for.
	Kind lock.Kind
	// Options are the target's own.
	Options map[string]string
	// Demands are the promises that the lock's contract demands. It may break the others: that is said, and is not wrong.
	Demands property.Set
	// Holding is how the server shows who holds the lock, where that is declared. Nothing else depends on it.
	Holding holding.Declared
	// On is the server behind the gate.
	On Server
	// Patience is how long a client may send nothing before the others go on without it; 0 is 2 seconds. An exploration is
	// not complete if one does that.
	Patience time.Duration
}

// Server is what stands behind the gate. The zero value is the simulated broker.
type Server struct {
	// Kind is one of [Kinds]; "" is AMQP.
	Kind string
	// Servers is how many there are, of which none knows of the others; 0 is one.
	Servers int
	// Name is what the report calls it; "" is the simulated broker.
	Name string
	// Open opens it, for one worker; nil is the simulated broker.
	Open func() (gate.Server, error)
	// Shared says that all workers use the same one, and others may as well.
	Shared bool
	// Unseen says in a sentence what is not known of it; "" is nothing.
	Unseen string
}

// String is what the server is called.
func (s Server) String() string { return cmp.Or(s.Name, engine.Simulated) }

// meaningless are the properties that mean nothing there: which commands every driver has is a matter of AMQP.
func (s Server) meaningless() property.Set {
	if s.Kind == "" || s.Kind == AMQP {
		return 0
	}
	return property.Set(0).With(property.MinimalDriver)
}

// open opens it.
func (s Server) open() (gate.Server, error) {
	if s.Open == nil {
		return plugin.Simulated()
	}
	return s.Open()
}
