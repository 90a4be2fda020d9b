package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/backend"
)

// Footprint returns what client n may read and write in the current state. calm is the result of [System.Calm]. Apart
// from calm, the footprint depends only on the client's own part of the state. A client with a half-open connection,
// which may end at any moment, counts as touching everything.
func (s *System) Footprint(n int, calm bool) backend.Footprint {
	w, c := &s.world, uint8(n)
	cl := &w.clients[n-1]
	var f backend.Footprint
	switch {
	case cl.dead || cl.wake > w.now || w.abandoned(c):
	case cl.busy:
		f = w.cluster.Touches(c, nil)
	default:
		at, any := w.upcoming(c)
		if any && s.Memoryless() { // if the monitor stores past calls, the moment of a call matters
			f = w.cluster.Touches(c, &w.scenario.Clients[n-1].Ops[at])
		}
	}
	f.Writes = s.writes(c, calm)
	return f
}

// writes returns the roles of the resources that the client may still change, by its remaining operations or by losing
// a session.
func (s *System) writes(c uint8, calm bool) backend.Roles {
	w := &s.world
	cl := &w.clients[c-1]
	safe, next := backend.Session(0), int(cl.next)
	if calm {
		safe = cl.conn
	}
	if w.forever {
		next = 0
	}
	return w.cluster.Writes(c, cl.dead, w.scenario.Clients[c-1].Ops[next:], safe)
}

// Calm reports whether no fault can happen any more.
func (s *System) Calm() bool { return s.left == (FaultBounds{}) }

// Undisturbed reports whether the only faults that can still happen are crashes of clients.
func (s *System) Undisturbed() bool {
	f := &s.left
	return f.Drops|f.ChannelErrors|f.Lost|f.Restarts|f.Clocks == 0
}

// abandoned reports whether a connection that the client no longer uses is half-open: the server has not detected its
// end.
func (w *World) abandoned(c uint8) bool {
	return slices.ContainsFunc(w.halfOpen, func(g halfOpen) bool { return g.client == c })
}
