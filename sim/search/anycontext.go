package search

import (
	"encoding/binary"
	"slices"
	"sync"
)

// anyContext is a context: what is shared, and the parts of all clients that hold something. Beside it stands
// what is known of those who hold nothing: the parts that one of them can have.
type anyContext struct {
	id      uint32
	shared  uint32
	holders []uint32 // parts, ascending

	mu      sync.Mutex
	seen    bitset // parts that a client without anything can have
	pending bool   // it is to be looked at

	// What the worker has that looks at it.
	done    bitset   // those of seen that were looked at
	classes []uint64 // views among those, and for each a part that has it, plus 1
	besides []uint32
	begun   bool
	steps   []step
	// restarted is where a restart of the broker leads.
	restarted []*anyContext
	led       []int32 // by step of the aspect: the step that it is here, plus 1
}

// contexts numbers contexts. It is safe for concurrent use.
type contexts struct {
	mu   sync.RWMutex
	ids  map[string]*anyContext
	list []*anyContext
}

// key is how a context is known. holders are put in order.
func contextKey(buf []byte, shared uint32, holders []uint32) []byte {
	slices.Sort(holders)
	buf = binary.LittleEndian.AppendUint32(buf[:0], shared)
	for _, h := range holders {
		buf = binary.LittleEndian.AppendUint32(buf, h)
	}
	return buf
}

// intern is the context of these parts.
func (c *contexts) intern(key []byte, shared uint32, holders []uint32) *anyContext {
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
	g = &anyContext{id: uint32(len(c.list)), shared: shared, holders: slices.Clone(holders)}
	c.list = append(c.list, g)
	c.ids[string(key)] = g
	return g
}

// find is the context of these parts if there is one, or nil.
func (c *contexts) find(shared uint32, holders []uint32) *anyContext {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ids[string(contextKey(nil, shared, holders))]
}

// contextBytes is about what a context takes beside its sets, and stepBytes what a step does.
const (
	contextBytes = 400
	stepBytes    = 24
)

func (c *contexts) measure() (n, views, steps int64, holders int, bytes int64) {
	for _, g := range c.list {
		views += int64(g.seen.count())
		steps += int64(len(g.steps))
		holders = max(holders, len(g.holders))
		bytes += contextBytes + int64(8*(len(g.seen)+len(g.done))+stepBytes*len(g.steps)+4*len(g.led))
	}
	return int64(len(c.list)), views, steps, holders, bytes
}

// join adds parts to those that can stand beside a context, and reports whether it has to be looked at from
// now on, and was not to be before.
func (g *anyContext) join(set bitset) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	more := g.seen.merge(set)
	if !more && g.begun || g.pending {
		return false
	}
	g.pending = true
	return true
}
