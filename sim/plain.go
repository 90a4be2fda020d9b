package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// Plain is embedded by a [Cluster] that says nothing about its commands. Nothing is random, sessions are not shared
// and have no units, and the search assumes that a client depends on everything and changes everything. It is slower,
// but as sound.
type Plain struct{}

// Choices implements [Cluster].
func (Plain) Choices(uint8) int { return 0 }

// Choose implements [Cluster].
func (Plain) Choose(uint8, int) int64 { return 0 }

// Shared implements [Cluster].
func (Plain) Shared() bool { return false }

// Left implements [Cluster].
func (Plain) Left() int { return 0 }

// Independent implements [Cluster].
func (Plain) Independent() bool { return false }

// Rejoin implements [Cluster].
func (Plain) Rejoin(uint8, backend.Session) {}

// Abort implements [Cluster].
func (Plain) Abort(uint8, backend.Session) {}

// Touches implements [Cluster].
func (Plain) Touches(uint8, *scenario.Operation) backend.Footprint { return backend.Footprint{} }

// Writes implements [Cluster].
func (Plain) Writes(uint8, bool, []scenario.Operation, backend.Session) backend.Roles {
	return backend.AllRoles
}
