package anynumber

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/lockproof/lockproof/sim/search/states"
)

// viewContext is a context: the shared part and the roles of all holders. It also has the parts that a client can
// have in the context.
type viewContext struct {
	id      uint32
	shared  uint32
	holders []uint32 // roles, ascending

	seen     states.Set // parts that a client can have, without incoming; constant during a round
	mu       sync.Mutex
	incoming states.Set // parts found in the current round
	pending  bool       // the next round has to process the context
	begun    bool       // the context was processed, or is in the current round

	// State of the worker that processes the context.
	done    states.Set // the parts of seen that were processed
	besides []uint32   // for each visible view of idle clients: one part with this view, plus 1
	looked  bool
	audited bool
	steps   []step
	index   map[outcome]int32 // the index in steps of each outcome
}

// contexts stores contexts and numbers them. It is safe for concurrent use.
type contexts struct {
	mu   sync.RWMutex
	ids  map[string]*viewContext
	list []*viewContext
}

// contextKey returns the key of a context, in the memory of buf. It sorts holders.
func contextKey(buf []byte, shared uint32, holders []uint32) []byte {
	slices.Sort(holders)
	buf = binary.LittleEndian.AppendUint32(buf[:0], shared)
	for _, h := range holders {
		buf = binary.LittleEndian.AppendUint32(buf, h)
	}
	return buf
}

// intern returns the context of a shared part and holders, and creates it if it is new. key is scratch memory.
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

// find returns the context of a shared part and holders, or nil if there is none.
func (c *contexts) find(shared uint32, holders []uint32) *viewContext {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ids[string(contextKey(nil, shared, holders))]
}

// contextBytes estimates the size of a context without its sets, and stepBytes that of a step.
const (
	contextBytes = 600
	stepBytes    = 240
)

// measure returns the number of contexts (n), views and steps, the most holders of a context, and an estimate of the memory.
// The size of a set of parts depends on the order in which parts were found. The estimate therefore counts each set as if it
// had all parts.
func (c *contexts) measure(parts int) (n, views, steps int64, holders int, bytes int64) {
	for _, g := range c.list {
		views += int64(g.seen.Count())
		steps += int64(len(g.steps))
		holders = max(holders, len(g.holders))
	}
	n = int64(len(c.list))
	return n, views, steps, holders, n*int64(contextBytes+3*parts/8) + steps*stepBytes
}

// join adds the parts in set to a context. It reports whether the context becomes pending for the next round.
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

// admit moves the parts that the last round found from incoming to seen.
func (g *viewContext) admit() {
	g.seen.Merge(g.incoming)
	g.incoming, g.pending, g.begun = g.incoming[:0], false, true
}
