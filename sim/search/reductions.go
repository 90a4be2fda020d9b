package search

import "github.com/lockproof/lockproof/sim"

// For are the reductions that bounds permit, of those that are asked for.
func (r Reductions) For(b *sim.Bounds) Reductions { return r.suited(b) }
