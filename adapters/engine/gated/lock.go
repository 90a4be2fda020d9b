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

// Lock is an external lock, with its options and its server.
type Lock struct {
	// Starter starts clients of the lock.
	Starter foreign.Starter
	// Exec is the command that starts the clients, for counterexamples; "" if the clients are no external program.
	Exec string
	// Name is the name of the target in the report; "" means the name that the clients report.
	Name string
	// Kind is the lock type, for example mutex, as which the lock is judged.
	Kind lock.Kind
	// Options are the options of the target, which its clients receive.
	Options map[string]string
	// Demands are the promises that the lock's contract demands. If the lock breaks another promise, the report
	// mentions it, but this is no failure.
	Demands property.Set
	// Holding declares by what the server shows who holds the lock, for example a consumer of a queue.
	Holding holding.Declared
	// On is the server behind the gate.
	On Server
	// Patience is how long a client may send nothing before the other clients continue without it; 0 means 2 seconds.
	// If this happens, an exploration is not complete.
	Patience time.Duration
}

// Server describes the server behind the gate. The zero value is the simulated broker.
type Server struct {
	// Kind is one of [Kinds]; "" means AMQP.
	Kind string
	// Servers is the number of independent servers; 0 means one.
	Servers int
	// Name is the server's name in reports; "" means the simulated broker.
	Name string
	// Open starts or connects to the server for one worker; nil means the simulated broker.
	Open func() (gate.Server, error)
	// Shared says that all workers use the same server, perhaps together with other programs.
	Shared bool
	// Unseen says, in a sentence, what lockproof cannot see of the server; "" if it sees everything.
	Unseen string
}

// String is the name of the server.
func (s Server) String() string { return cmp.Or(s.Name, engine.Simulated) }

// meaningless returns the properties that do not apply to the server. minimal-driver applies to AMQP only: it allows
// only those AMQP commands that every driver offers.
func (s Server) meaningless() property.Set {
	if s.Kind == "" || s.Kind == AMQP {
		return 0
	}
	return property.Set(0).With(property.MinimalDriver)
}

// open opens the server, or starts a simulated broker.
func (s Server) open() (gate.Server, error) {
	if s.Open == nil {
		return plugin.Simulated()
	}
	return s.Open()
}
