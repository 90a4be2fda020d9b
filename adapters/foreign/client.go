package foreign

import (
	"github.com/lockproof/lockproof/adapters/external"
)

// A client, who starts it, and what it says of itself are those of package external: in-process and sub-process clients are both.
type (
	// Client is one client of somebody else's lock.
	Client = external.Client
	// Starter makes clients.
	Starter = external.Starter
	// Preparer is a Starter whose clients take their time to begin.
	Preparer = external.Preparer
	// Setup is what a client gets before the first call.
	Setup = external.Setup
	// About is what a client says of itself.
	About = external.About
	// Params are an operation's arguments.
	Params = external.Params
	// Notes keeps account of what clients make on a real broker.
	Notes = external.Notes
	// Traffic is what operations took on the wire.
	Traffic = external.Traffic
	// Spent is what the time of a runner went into.
	Spent = external.Spent
	// Declared is the queues that clients have declared.
	Declared = external.Declared
)

// What a client's call may come to.
var (
	ErrDied      = external.ErrDied
	ErrElsewhere = external.ErrElsewhere
)
