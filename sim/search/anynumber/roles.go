package anynumber

import (
	"slices"
	"sync"

	"github.com/lockproof/lockproof/sim/search/states"
)

// role is what a context knows of a holder: its kind and its view. In whole contexts it is the holder's part.
type role struct {
	class byte
	view  uint64
	part  string // "" where contexts have what is seen only
}

// roles numbers them. It is safe for concurrent use.
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

// population are the clients of a context: for each holder its possible parts, and the parts of idle clients.
type population struct {
	holders []holder
	plain   states.Set            // all but the idle ones
	idle    map[uint64]states.Set // clients that hold nothing and have visible state, by that state
}

// holder is a role in a context, and the number of clients that have it.
type holder struct {
	role  uint32
	count int
	parts states.Set
	one   uint32 // the part that represents the others: no other client can tell them apart
}

// population sorts the parts of a context.
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

// precedes orders parts independently of their numbers, and so of which worker reached them first.
func (s *exploration) precedes(a, b uint32) bool { return s.clients.Image(a) < s.clients.Image(b) }

// holder is the one in a role, or nil.
func (c *population) holder(role uint32) *holder {
	i := slices.IndexFunc(c.holders, func(h holder) bool { return h.role == role })
	if i < 0 {
		return nil
	}
	return &c.holders[i]
}

// beside is one part for each holder, without one of the given role (plus 1; 0 is none).
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

// watching are those of some parts that may watch a step, and all of those who may only now.
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
