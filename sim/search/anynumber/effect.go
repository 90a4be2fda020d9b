package anynumber

import (
	"sync"

	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

// effectTable numbers the effects of actions. It stores how each effect changes the parts of the other clients. It is
// safe for concurrent use.
type effectTable struct {
	mu   sync.RWMutex
	ids  map[sim.Effect]uint32
	list []*influence
}

// influence is how one effect changes the parts of other clients.
type influence struct {
	mu    sync.RWMutex
	inert states.Set        // parts that the effect leaves unchanged
	known states.Set        // parts for which the result is known
	to    map[uint32]uint32 // the part after the effect, for the known parts that are not inert
	roles map[uint32]uint32 // maps a holder's role to its role afterwards plus 1; 0 if it holds nothing then
}

func (t *effectTable) number(e sim.Effect) uint32 {
	t.mu.RLock()
	id, ok := t.ids[e]
	t.mu.RUnlock()
	if ok {
		return id
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[e]; ok {
		return id
	}
	id = uint32(len(t.list))
	t.list = append(t.list, &influence{to: make(map[uint32]uint32), roles: make(map[uint32]uint32)})
	t.ids[e] = id
	return id
}

func (t *effectTable) at(id uint32) *influence {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.list[id]
}

// set records that the effect changes part to the part to. It returns false if a different result was recorded before:
// the effect's description is then too coarse.
func (f *influence) set(part, to uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known.Has(part) {
		return f.of(part) == to
	}
	f.known.Add(part)
	if part == to {
		f.inert.Add(part)
	} else {
		f.to[part] = to
	}
	return true
}

// assign records the effect on a holder's role: to is the role afterwards plus 1, or 0 if the client holds nothing
// afterwards. It returns false if a different result was recorded before.
func (f *influence) assign(role, to uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, ok := f.roles[role]
	f.roles[role] = to
	return !ok || was == to
}

// of returns a part after the effect. The result must be known, and the caller must hold mu.
func (f *influence) of(part uint32) uint32 {
	if f.inert.Has(part) {
		return part
	}
	return f.to[part]
}

// get returns a part after the effect, and whether this result is known.
func (f *influence) get(part uint32) (uint32, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !f.known.Has(part) {
		return 0, false
	}
	return f.of(part), true
}

// unknown returns the parts in set for which the result of the effect is not known.
func (f *influence) unknown(set states.Set) states.Set {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !set.Exceeds(f.known) {
		return nil
	}
	return set.Without(f.known)
}

// image returns the parts of a set after the effect, which must be known for each. If the effect changes none of them,
// same is true and out is the set itself.
func (f *influence) image(set states.Set) (out states.Set, same bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !set.Exceeds(f.inert) {
		return set, true
	}
	moved := set.Without(f.inert)
	out = set.Without(moved)
	for part := range moved.All {
		out.Add(f.to[part])
	}
	return out, false
}
