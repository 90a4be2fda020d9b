package sim

import "github.com/lockproof/lockproof/model/lock"

// ClientState is the state of a client.
type ClientState struct {
	Op   lock.Op // the current operation; NoOp if none
	Held uint8   // the slot that the client believes it holds; 0 is none
	Dead bool
	// Linked says that the client believes it has a session; Connected says that the server has one.
	Linked, Connected bool
	// Phase is the client's current activity in the backend's words; "" if the backend names none.
	Phase string
	Left  int // operations not yet called
}

// phased is a cluster that names a client's current activity.
type phased interface{ Phase(c uint8) string }

// Client is the state of a client.
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
