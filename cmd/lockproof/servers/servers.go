package servers

import (
	"context"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/model/scenario"
)

// Server is a real server that a [Finder] has found.
type Server interface {
	// Replay repeats a trace on the server, and compares the server's replies with the simulated ones.
	Replay(context.Context, *scenario.Trace) (*scenario.Replayed, error)
	// Measured returns the server for package measure. It may be used until Close.
	Measured(context.Context) (measure.Server, error)
	// Close releases the connections to the server.
	Close() error
}

// Finder finds the server at an address. If the address is "", it finds the server that the environment names, or the
// one at the default address. The error says where no server was found.
type Finder func(ctx context.Context, address string) (Server, error)

// Finders contains a finder for each kind of server, by the name of the backend.
type Finders map[string]Finder
