package anynumber

import (
	"github.com/lockproof/lockproof/model/scenario"
)

// Solo is the result of letting each client continue alone from every view: no other client acts, and no more faults
// happen.
type Solo struct {
	Known bool // the clients were run alone, which requires that the search found all views
	Steps int  // largest number of steps that a client took to the end of its operation
	// Endless says that some operation never ends, although no other client disturbs it.
	Endless bool
}

// soloClient is a client that runs alone: its context g, and its part.
type soloClient struct {
	g    *viewContext
	part uint32
}

// solo runs every client of every context alone. No other worker may run at the same time.
func (w *worker) solo() (out Solo) {
	out.Known = true
	// Indexed by the rank of a client's part in the context: the client's steps plus 1, or inProgress.
	lengths := make(map[*viewContext][]uint16)
	populations := make(map[*viewContext]*population)
	at := func(c soloClient) *uint16 {
		of := lengths[c.g]
		if of == nil {
			of = make([]uint16, c.g.seen.Count())
			who := w.population(c.g)
			lengths[c.g], populations[c.g] = of, &who
		}
		return &of[c.g.seen.Rank(c.part)]
	}
	var run func(soloClient) uint16
	run = func(c soloClient) uint16 {
		n := at(c)
		switch {
		case *n == inProgress:
			out.Endless = true
			return 1
		case *n > 0:
			return *n
		}
		*n = inProgress
		longest := uint16(0)
		for _, next := range w.alone(c, populations[c.g]) {
			steps := uint16(1)
			if w.clients.At(next.part).Busy {
				steps += run(next) - 1
			}
			longest = max(longest, steps)
		}
		*n = longest + 1
		return *n
	}
	for _, g := range w.contexts.list {
		for p := range g.seen.All {
			out.Steps = max(out.Steps, int(run(soloClient{g, p}))-1)
		}
	}
	return out
}

// inProgress marks a client whose steps are still being counted. If it is reached again, its operation never ends.
const inProgress = 1<<16 - 1

// alone returns a client after its next step. It has several results if the step is a random choice.
func (w *worker) alone(c soloClient, who *population) (next []soloClient) {
	others := who.beside(known(w.clients.At(c.part)))
	for _, m := range w.moves(c.g.shared, c.part+1, others, 0) {
		if m.action.Kind == scenario.Step || m.action.Kind == scenario.Choose {
			to := w.leads(&takenIn{c.g.shared, among(c.part+1, others, 0), m}, others)
			next = append(next, soloClient{to, m.own - 1})
		}
	}
	return next
}
