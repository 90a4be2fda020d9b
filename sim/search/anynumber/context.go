package anynumber

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/lockproof/lockproof/sim/search/states"
)

// viewContext is a context: the shared part of a state, and the roles of all clients that hold something (holders). It
// also has the set of parts that a client can have in this context.
type viewContext struct {
	id      uint32
	shared  uint32
	holders []uint32 // roles of the holders, ascending

	seen     states.Set // parts that a client can have, without those in incoming; constant during a round
	mu       sync.Mutex
	incoming states.Set // parts found in the current round
	pending  bool       // the next round has to process the context
	begun    bool       // the context was processed, or is in the current round

	// The next fields belong to the worker that processes the context.
	done    states.Set // parts in seen that were processed
	besides []uint32   // views of idle clients that occur in the context: for each, one part with this view, plus 1
	looked  bool
	audited bool
	steps   []step
	index   map[outcome]int32 // maps an outcome to the index of its step in steps
}

// contexts stores contexts and numbers them. It is safe for concurrent use.
type contexts struct {
	mu   sync.RWMutex
	ids  map[string]*viewContext
	list []*viewContext
}

// contextKey returns the key of a context, written into buf's memory. It sorts holders.
func contextKey(buf []byte, shared uint32, holders []uint32) []byte {
	slices.Sort(holders)
	buf = binary.LittleEndian.AppendUint32(buf[:0], shared)
	for _, h := range holders {
		buf = binary.LittleEndian.AppendUint32(buf, h)
	}
	return buf
}

// intern returns the context with this shared part and these holders' roles, and creates it if it is new. key is
// scratch memory.
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

// find returns the context with this shared part and these holders' roles, or nil if there is none.
func (c *contexts) find(shared uint32, holders []uint32) *viewContext {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ids[string(contextKey(nil, shared, holders))]
}

// contextBytes is an estimate of a context's size in bytes without its sets, and stepBytes is one of a step's size.
const (
	contextBytes = 600
	stepBytes    = 240
)

// measure returns the number of contexts (n), views and steps, the largest number of holders in one context, and an
// estimate of the bytes in use. The size of a set of parts depends on the order in which parts were found. The estimate
// therefore assumes that each set has all parts.
func (c *contexts) measure(parts int) (n, views, steps int64, holders int, bytes int64) {
	for _, g := range c.list {
		views += int64(g.seen.Count())
		steps += int64(len(g.steps))
		holders = max(holders, len(g.holders))
	}
	n = int64(len(c.list))
	return n, views, steps, holders, n*int64(contextBytes+3*parts/8) + steps*stepBytes
}

// join adds the parts in set to incoming. It reports whether this makes the context pending for the next round.
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

// admit moves the parts in incoming, which the last round found, to seen.
func (g *viewContext) admit() {
	g.seen.Merge(g.incoming)
	g.incoming, g.pending, g.begun = g.incoming[:0], false, true
}
