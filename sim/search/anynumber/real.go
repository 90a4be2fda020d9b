package anynumber

import (
	"context"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// Real looks for executions of real clients that violate the properties in want. Each kind with any number of clients
// gets the given number. Real visits at most most states, and expands a state only if the search found a way from its
// context to a violation. For each property that it finds violated, it returns a shortest execution. It also reports
// whether it visited everything: then no execution of that many clients violates the other properties.
//
// For illegal, see [search.Counterexamples].
func (r *Result) Real(ctx context.Context, want property.Set, clients, most int, illegal func([]scenario.Action) bool) (map[property.Property][]scenario.Action, bool) {
	s := r.search
	p, towards := projection{exploration: s, each: clients}, s.towards(want)
	v := search.Guided{Most: most, Within: func(world *sim.System) bool {
		g, _ := p.project(world)
		return towards[g]
	}}.Run(ctx, r.Bounds(clients), want, illegal)
	return v.Found, v.All
}

// Bounds returns the search's configuration with each clients of every kind that has any number of clients.
func (r *Result) Bounds(each int) sim.Bounds {
	s := r.search
	b := s.bounds
	b.Clients = append([]scenario.Client(nil), s.bounds.Clients[:s.fixed]...)
	for _, c := range s.bounds.Clients[s.fixed:] {
		for range each {
			b.Clients = append(b.Clients, c)
		}
	}
	return b
}

// towards returns the contexts from which a violation of a property in want can be reached. For linearizability these
// are all contexts, since histories are judged one by one if the monitor has no linearization.
func (s *exploration) towards(want property.Set) map[*viewContext]bool {
	back := make(map[*viewContext][]*viewContext)
	for _, g := range s.contexts.list {
		for i := range g.steps {
			back[g.steps[i].to] = append(back[g.steps[i].to], g)
		}
	}
	reach := make(map[*viewContext]bool)
	var todo []*viewContext
	for p := range property.Count {
		for _, g := range s.contexts.list {
			if want.Has(p) && (s.found[p][g] || p == property.Linearizable) {
				todo = append(todo, g)
			}
		}
	}
	for len(todo) > 0 {
		g := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reach[g] {
			reach[g] = true
			todo = append(todo, back[g]...)
		}
	}
	return reach
}

// projection maps a state of real clients to a context of the search and to the clients' parts.
type projection struct {
	*exploration
	each           int // number of clients of each kind that has any number
	holders, parts []uint32
	buf            []byte
}

// project returns the context of a state of real clients, and the clients' parts. The context is nil if the search has
// not reached it.
func (p *projection) project(world *sim.System) (*viewContext, []uint32) {
	p.holders, p.parts = p.holders[:0], p.parts[:0]
	for c := 1; c <= p.fixed+p.each*(len(p.bounds.Clients)-p.fixed); c++ {
		class := byte(c - 1)
		if c > p.fixed {
			class = byte(p.fixed + (c-1-p.fixed)/p.each)
		}
		for _, image := range world.Abandoned(c) {
			if !p.place(append([]byte{byte(p.fixed)}, image...)) {
				return nil, nil
			}
		}
		p.buf = world.Client(c, append(p.buf[:0], class))
		if !p.place(p.buf) {
			return nil, nil
		}
	}
	p.buf = world.Shared(p.buf[:0])
	shared, ok := p.shared.Find(p.buf)
	if !ok {
		return nil, nil
	}
	return p.contexts.find(shared, p.holders), p.parts
}

// place adds the part with the encoding image to parts and, if the client is a holder, its role to holders. It returns
// false if the search has not reached the part.
func (p *projection) place(image []byte) bool {
	id, ok := p.clients.Find(image)
	if !ok {
		return false
	}
	if d := p.clients.At(id); d.Holds {
		p.holders = append(p.holders, d.Role)
	}
	p.parts = append(p.parts, id)
	return true
}
