package search

import "github.com/lockproof/lockproof/sim"

// Reductions leave out executions that differ from others in nothing that is judged.
type Reductions struct {
	// Symmetry takes states for one in which clients of one workload have changed places. Those that share
	// a connection have a channel each, and never are alike.
	Symmetry bool
	// Order has a client that only looks at what nobody can change any more go on before anybody else.
	Order bool
	// Local has a client go on at once with commands that touch no queue, and choose at once.
	Local bool
}

// AllReductions is every reduction.
var AllReductions = Reductions{Symmetry: true, Order: true, Local: true}

// For are the reductions that bounds permit, of those that are asked for. A fault in the middle of a connection can tell
// apart what is otherwise alike, as it depends on when it happens: Order and Local begin where no such fault is left.
// Users' own properties tell clients apart, and whatever state is left out.
func (r Reductions) For(b *sim.Bounds) Reductions {
	if b.Forever || !sim.NewSystem(*b).Independent() {
		r.Order, r.Local = false, false
	}
	if len(b.Own) > 0 {
		r = Reductions{}
	}
	return r
}

// slow has a plan look nothing up, if it must: where time turns out to matter though no option says so.
func (p *plan) slow(must bool) {
	if must {
		p.alone, p.red.Order, p.red.Local = false, false, false
	}
}
