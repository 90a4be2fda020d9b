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

// Cutoff is the smallest number of real clients whose reachable states show all views that the search found. A view is
// a context together with one client's state.
type Cutoff struct {
	Clients int   // cutoff, in clients of each kind with any number; 0 if no number up to Tried reached all views
	Tried   int   // the largest number of clients tried
	Reached int64 // views that all tries together reached
}

// Cutoff computes the cutoff. It tries one client of each kind, then two, up to the given number (clients). All tries
// together visit at most most states. A larger number of clients also reaches every view of a smaller number, so each
// view counts once. The search must have found all views.
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

// reach visits the states of the given number of real clients, at most most of them, and adds their views to reached.
// It returns the number of new views (more) and of visited states (seen).
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
