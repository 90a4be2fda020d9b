package servers

import (
	"context"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/model/scenario"
)

// Server is a real server that was found.
type Server interface {
	// Replay repeats a trace on the server, and compares its replies with the simulated ones.
	Replay(context.Context, *scenario.Trace) (*scenario.Replayed, error)
	// Measured is the server for package measure, until Close.
	Measured(context.Context) (measure.Server, error)
	// Close releases the connections to the server.
	Close() error
}

// Finder finds the server at an address or, if the address is "", the one that the environment names or that is at the usual
// address. The error says where none was found.
type Finder func(ctx context.Context, address string) (Server, error)

// Finders are finders of servers, by the name of their backend.
type Finders map[string]Finder
