package search

import "github.com/lockproof/lockproof/sim"

// For are the reductions that bounds permit, of those that are asked for.
func (r Reductions) For(b *sim.Bounds) Reductions { return r.suited(b) }

// slow has a plan look nothing up, if it must: where time turns out to matter though no option says so.
func (p *plan) slow(must bool) {
	if must {
		p.alone, p.red.Order, p.red.Local = false, false, false
	}
}
