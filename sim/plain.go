package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// Plain is embedded in a [Cluster] that gives no details about its commands. It has no random options, and sessions are
// neither shared nor divided into units. A search then assumes that each client depends on everything and changes
// everything. It is slower, and equally sound.
type Plain struct{}

// Choices implements [Cluster]: there are no random options.
func (Plain) Choices(uint8) int { return 0 }

// Choose implements [Cluster]. It is never called, since there are no random options.
func (Plain) Choose(uint8, int) int64 { return 0 }

// Shared implements [Cluster]: each client has its own session.
func (Plain) Shared() bool { return false }

// Left implements [Cluster]: the server stores nothing of a session that has ended.
func (Plain) Left() int { return 0 }

// Independent implements [Cluster]: each client's actions may depend on everything.
func (Plain) Independent() bool { return false }

// Rejoin implements [Cluster]. It is never called, since no session is shared.
func (Plain) Rejoin(uint8, backend.Session) {}

// Abort implements [Cluster]: it does nothing, since sessions have no units.
func (Plain) Abort(uint8, backend.Session) {}

// Touches implements [Cluster]: the next command may touch everything.
func (Plain) Touches(uint8, *scenario.Operation) backend.Footprint { return backend.Footprint{} }

// Writes implements [Cluster]: a client may change everything.
func (Plain) Writes(uint8, bool, []scenario.Operation, backend.Session) backend.Roles {
	return backend.AllRoles
}
