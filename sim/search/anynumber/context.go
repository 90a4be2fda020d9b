package anynumber

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/lockproof/lockproof/sim/search/internal/states"
)

// viewContext is a context: what is shared, and what may be seen of all clients that hold something. With it goes what
// is known of clients: the parts that one of them can have in it.
type viewContext struct {
	id      uint32
	shared  uint32
	holders []uint32 // roles, ascending

	seen     states.Set // parts that a client can have, but for those of incoming. It stays as it is for a round
	mu       sync.Mutex
	incoming states.Set // found in the round at hand
	pending  bool       // it is to be looked at in the next round
	begun    bool       // it was looked at, or is in the round at hand

	// What the worker has that looks at it.
	done    states.Set // those of seen that were looked at
	besides []uint32   // a part, plus 1, for each view of those who hold nothing, but for that of which nothing may be seen
	looked  bool
	audited bool
	steps   []step
	index   map[outcome]int32 // of steps
}

// contexts numbers contexts. It is safe for concurrent use.
type contexts struct {
	mu   sync.RWMutex
	ids  map[string]*viewContext
	list []*viewContext
}

// contextKey is how a context is known. holders are put in order.
func contextKey(buf []byte, shared uint32, holders []uint32) []byte {
	slices.Sort(holders)
	buf = binary.LittleEndian.AppendUint32(buf[:0], shared)
	for _, h := range holders {
		buf = binary.LittleEndian.AppendUint32(buf, h)
	}
	return buf
}

// intern is the context of these holders.
func (c *contexts) intern(key []byte, shared uint32, holders []uint32) *viewContext {
	key = contextKey(key, shared, holders)
	c.mu.RLock()
	g := c.ids[string(key)]
	c.mu.RUnlock()
	if g != nil {
		return g
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.ids[string(key)]; g != nil {
		return g
	}
	g = &viewContext{id: uint32(len(c.list)), shared: shared, holders: slices.Clone(holders), index: make(map[outcome]int32)}
	c.list = append(c.list, g)
	c.ids[string(key)] = g
	return g
}

// find is the context of these holders if there is one, or nil.
func (c *contexts) find(shared uint32, holders []uint32) *viewContext {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ids[string(contextKey(nil, shared, holders))]
}

// contextBytes is about what a context takes beside its sets, and stepBytes what a step does.
const (
	contextBytes = 600
	stepBytes    = 240
)

// measure adds contexts up. What sets of parts take depends on how parts are numbered, and that on who was first: they
// are counted as if each went up to the last of so many parts.
func (c *contexts) measure(parts int) (n, views, steps int64, holders int, bytes int64) {
	for _, g := range c.list {
		views += int64(g.seen.Count())
		steps += int64(len(g.steps))
		holders = max(holders, len(g.holders))
	}
	n = int64(len(c.list))
	return n, views, steps, holders, n*int64(contextBytes+3*parts/8) + steps*stepBytes
}

// join adds parts to those that a client can have in a context, and reports whether it has to be looked at in the
// next round, and was not to be before.
func (g *viewContext) join(set states.Set) bool {
	more := set.Exceeds(g.seen)
	g.mu.Lock()
	defer g.mu.Unlock()
	if more {
		g.incoming.Merge(set)
	}
	if !more && g.begun || g.pending {
		return false
	}
	g.pending = true
	return true
}

// admit takes those in who were found in the last round.
func (g *viewContext) admit() {
	g.seen.Merge(g.incoming)
	g.incoming, g.pending, g.begun = g.incoming[:0], false, true
}
