package sim

import "github.com/lockproof/lockproof/model/lock"

// ClientState is how a client stands.
type ClientState struct {
	Op   lock.Op // the operation at hand; NoOp where none is under way
	Held uint8   // the slot it believes to hold, 0 for none
	Dead bool
	// Linked says that it believes to have a session, and Connected that the server has one.
	Linked, Connected bool
	// Phase is what it is doing, in the backend's words; "" where that is not told.
	Phase string
	Left  int // operations that it has not called yet
}

// phased is a cluster that names a client's current activity.
type phased interface{ Phase(c uint8) string }

// Client is how a client stands.
func (w *World) Client(c uint8) ClientState {
	cl := &w.clients[c-1]
	s := ClientState{
		Held: w.cluster.Held(c), Dead: cl.dead, Linked: w.cluster.Linked(c), Connected: cl.conn != 0,
		Left: len(w.scenario.Clients[c-1].Ops) - int(cl.next),
	}
	if k, ok := w.cluster.(phased); ok && !cl.dead && cl.busy {
		s.Phase = k.Phase(c)
	}
	if cl.busy {
		s.Op = w.cluster.Op(c)
	}
	return s
}
