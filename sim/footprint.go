package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// Footprint is what a client touches in the state at hand.
func (s *System) Footprint(n int) backend.Footprint {
	w, c := &s.world, uint8(n)
	cl := &w.clients[n-1]
	var f backend.Footprint
	var next *scenario.Operation
	switch upcoming := !cl.dead && !cl.busy && w.upcoming(c); {
	case cl.dead || cl.wake > w.now:
	case !cl.busy && (!upcoming || !s.Memoryless()): // where calls are remembered, it matters when they begin
	case !cl.busy:
		next = &w.scenario.Clients[n-1].Ops[cl.next]
		fallthrough
	default:
		f = w.cluster.Touches(c, next)
	}
	f.Writes = s.writes(c)
	return f
}

// writes are the roles of what the client may change by the operations that are left, and of what would go with a
// session if it were lost.
func (s *System) writes(c uint8) backend.Roles {
	w := &s.world
	cl := &w.clients[c-1]
	safe, next := backend.Session(0), int(cl.next)
	if s.left == (FaultBounds{}) {
		safe = cl.conn
	}
	if w.forever {
		next = 0
	}
	return w.cluster.Writes(c, cl.dead, w.scenario.Clients[c-1].Ops[next:], safe)
}
