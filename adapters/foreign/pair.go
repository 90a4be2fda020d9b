package foreign

import "github.com/lockproof/lockproof/model/scenario"

// A process that uses two locks is two clients of a scenario, each with its own lock, and each is judged like any client.
// The two have one handle, whose calls are made one at a time, and a fault of one affects both.

// handlesOf are the numbers of the handles of a scenario's clients, from 1.
func handlesOf(sc *scenario.Scenario) []int {
	handles, n := make([]int, len(sc.Clients)), 0
	for i, c := range sc.Clients {
		if c.With == 0 {
			n++
			handles[i] = n
		}
	}
	for i, c := range sc.Clients {
		if c.With > 0 {
			handles[i] = handles[c.With-1]
		}
	}
	return handles
}

// playing are the clients that handle a stands for, in order: one, or two if they are one process.
func (r *run) playing(a *clientHandle) (all []*clientState) {
	for i := range r.clients {
		if p := &r.clients[i]; p.clientHandle == a {
			all = append(all, p)
		}
	}
	return all
}

// plays reports whether a handle takes part in the run.
func (r *run) plays(a *clientHandle) bool { return len(r.playing(a)) > 0 }

// turn reports whether an act of p's process counts as an act of p. It does if p's operation is under way. If no operation
// is under way, it counts for the process's first client.
func (r *run) turn(p *clientState) bool {
	all := r.playing(p.clientHandle)
	for _, o := range all {
		if o.busy {
			return o == p
		}
	}
	return p.first() == nil || p.chatters() || all[0] == p
}

// numberOf is the number of the client that handle a stands for, the first one if there are two; 0 if it takes no part.
func (r *run) numberOf(a *clientHandle) uint8 {
	if all := r.playing(a); len(all) > 0 {
		return all[0].id
	}
	return 0
}
