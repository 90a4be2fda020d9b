package anynumber

import (
	"context"
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/states"
)

// Cutoff is the smallest number of real clients whose states reach all views of the search.
type Cutoff struct {
	Clients int   // clients of each kind with any number; 0 if no number up to Tried reached all views
	Tried   int   // the largest number tried
	Reached int64 // views that the tries reached together, in the states visited
}

// Cutoff computes the cutoff. It tries one client of each kind, then two, up to the given number. most bounds the number of
// states that all tries visit together. Each view counts once: a larger number of clients also reaches every view that a
// smaller number reaches. The views must be closed.
func (r *Result) Cutoff(ctx context.Context, clients, most int) (c Cutoff) {
	reached := make(map[*viewContext]states.Set)
	for n := 1; n <= clients && c.Reached < r.Views && most > 0 && ctx.Err() == nil; n++ {
		if len(r.Bounds(n).Clients) > lock.MaxClients {
			break
		}
		c.Tried = n
		more, seen := r.reach(ctx, n, most, reached)
		c.Reached, most = c.Reached+more, most-seen
	}
	if c.Reached == r.Views {
		c.Clients = c.Tried
	}
	return c
}

// reach adds the views of the given number of real clients to reached. It returns the number of new views (more) and the
// number of states that it visited (seen).
func (r *Result) reach(ctx context.Context, clients, most int, reached map[*viewContext]states.Set) (more int64, seen int) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	p := projection{exploration: r.search, each: clients}
	left := r.Views
	for _, set := range reached {
		left -= int64(set.Count())
	}
	v := search.Guided{Most: most, Within: func(world *sim.System) bool {
		if bits.OnesCount16(world.Slots()) > p.slots {
			return false
		}
		g, parts := p.project(world)
		set := reached[g]
		for _, part := range parts {
			if !set.Has(part) {
				set.Add(part)
				more++
			}
		}
		if reached[g] = set; more == left {
			enough()
		}
		return true
	}}.Run(ctx, r.Bounds(clients), ^property.Set(0), func([]scenario.Action) bool { return false })
	return more, v.States
}
