package anynumber

import (
	"slices"
	"sync"

	"github.com/lockproof/lockproof/sim/search/states"
)

// role is what a context stores about a holder, that is, about a client that holds something: its class and what others
// can see of it. With Bounds.Whole, and for a named client, it also has the holder's whole part.
type role struct {
	class byte
	view  uint64
	part  string // "" if the context stores only what other clients see of the holder
}

// roles maps roles to numbers. It is safe for concurrent use.
type roles struct {
	mu  sync.Mutex
	ids map[role]uint32
}

func (r *roles) number(of role) uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.ids[of]
	if !ok {
		id = uint32(len(r.ids))
		r.ids[of] = id
	}
	return id
}

// population has the clients that are possible in a context: the possible parts of each holder and of all other
// clients.
type population struct {
	holders []holder
	plain   states.Set            // parts of all holders, and of clients that others cannot see
	idle    map[uint64]states.Set // by view: parts of clients that hold nothing, but that others can see
}

// holder is a role in a context, with the number of clients that have the role.
type holder struct {
	role  uint32
	count int
	parts states.Set
	one   uint32 // a part that represents all of parts, since other clients cannot tell them apart
}

// population returns the clients that are possible in context g.
func (s *exploration) population(g *viewContext) (c population) {
	for i, r := range g.holders {
		if i > 0 && r == g.holders[i-1] {
			c.holders[len(c.holders)-1].count++
		} else {
			c.holders = append(c.holders, holder{role: r, count: 1})
		}
	}
	for p := range g.seen.All {
		d := s.clients.At(p)
		if !d.Holds && d.View != 0 {
			if c.idle == nil {
				c.idle = make(map[uint64]states.Set)
			}
			set := c.idle[d.View]
			set.Add(p)
			c.idle[d.View] = set
			continue
		}
		if c.plain.Add(p); !d.Holds {
			continue
		}
		h := c.holder(d.Role)
		if h.parts == nil || s.precedes(p, h.one) {
			h.one = p
		}
		h.parts.Add(p)
	}
	return c
}

// precedes reports whether the encoding of part a is less than that of part b. Unlike an order by numbers, this order
// does not depend on which worker found a part first.
func (s *exploration) precedes(a, b uint32) bool { return s.clients.Image(a) < s.clients.Image(b) }

// holder returns the holder with the given role, or nil if the context has none.
func (c *population) holder(role uint32) *holder {
	i := slices.IndexFunc(c.holders, func(h holder) bool { return h.role == role })
	if i < 0 {
		return nil
	}
	return &c.holders[i]
}

// beside returns one part for each holder, except for one holder with the given role. The argument is the role's number
// plus 1; 0 means that no holder is left out.
func (c *population) beside(role uint32) (parts []uint32) {
	for _, h := range c.holders {
		n := h.count
		if h.role+1 == role {
			n--
		}
		for range n {
			parts = append(parts, h.one)
		}
	}
	return parts
}

// watching returns those parts in the set some that step s can affect. It adds all parts with one of the views in now,
// which s can affect only from now on.
func (c *population) watching(s *step, some states.Set, now []uint64) states.Set {
	if !s.all && len(c.idle) > 0 {
		may := slices.Clone(c.plain)
		for _, o := range s.open {
			may.Merge(c.idle[o.view])
		}
		some = some.And(may)
		for _, view := range now {
			some.Merge(c.idle[view])
		}
	}
	if s.by > 0 {
		some = some.Without(c.holder(s.by - 1).parts)
	}
	return some
}
