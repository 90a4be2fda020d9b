package servers

import (
	"context"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/model/scenario"
)

// Server is a real server that was found.
type Server interface {
	// Replay carries out a trace there, and compares what the server says with the simulation.
	Replay(context.Context, *scenario.Trace) (*scenario.Replayed, error)
	// Measured is the server as package measure uses it, until it is closed.
	Measured(context.Context) (measure.Server, error)
	// Close gives back what the server was used by.
	Close() error
}

// Finder finds the server at an address, or, where that is "", the one that the environment names or that is where it
// usually is. The error says where none was found.
type Finder func(ctx context.Context, address string) (Server, error)

// Finders are the finders of servers, by the name of their backend.
type Finders map[string]Finder
