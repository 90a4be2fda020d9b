package foreign

import "github.com/lockproof/lockproof/model/scenario"

// A process that uses two locks appears as two clients of the scenario, each with one lock and judged like any client.
// Both have the same handle. Their calls are made one at a time, and a fault of one affects both.

// handlesOf is the number of the handle of each client of a scenario, from 1.
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

// playing are the clients of the run that use handle a: one, or two if they are one process.
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

// turn reports whether it is p's turn to act, if p's process is two clients. A client with an operation under way has
// its turn. If neither has, commands of the process count for its first client.
func (r *run) turn(p *clientState) bool {
	all := r.playing(p.clientHandle)
	for _, o := range all {
		if o.busy {
			return o == p
		}
	}
	return p.first() == nil || p.chatters() || all[0] == p
}

// numberOf is the number of the first client that uses handle a; 0 if there is none.
func (r *run) numberOf(a *clientHandle) uint8 {
	if all := r.playing(a); len(all) > 0 {
		return all[0].id
	}
	return 0
}
