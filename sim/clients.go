package sim

import "github.com/lockproof/lockproof/model/lock"

// ClientState is the state of a client at one moment, as a user of the simulation sees it.
type ClientState struct {
	Op   lock.Op // current operation; NoOp if there is none
	Held uint8   // slot that the client believes it holds; 0 means none
	Dead bool
	// Linked says that the client believes that it has a session. Connected says that the server has one.
	Linked, Connected bool
	// Phase names the client's current activity in the terms of the backend; "" if the backend has no name for it.
	Phase string
	Left  int // number of operations that the client has not yet invoked
}

// phased is a cluster that has a name for a client's current activity.
type phased interface{ Phase(c uint8) string }

// Client returns the state of client c.
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
