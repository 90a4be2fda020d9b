package beliefs

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// contents is the possible state of a lock, from its history alone: an administrator may rightly report that there
// was nothing to change.
type contents struct {
	fewest int  // the lowest possible number of slots now
	under  int  // number of administrative operations under way, including those that never return
	mixed  bool // several of them overlapped since the last moment without any
	// holders are the processes that may hold a slot: the broker may still have a grant in which its client no longer
	// believes.
	holders map[int32]bool
}

// begin handles the invocation of an operation, which may take effect from now on. takes is the number of slots that
// it may remove.
func (c *contents) begin(e *history.Event) (takes int) {
	op := e.F.Op()
	if !op.Administrative() {
		return 0
	}
	c.mixed = c.under > 0
	c.under++
	switch op {
	case lock.Remove:
		takes = min(int(e.Slots), c.fewest)
	case lock.Destroy:
		takes = c.fewest
	}
	c.fewest -= takes
	return takes
}

// end handles the answer to an operation. Its effect is known only if no other operation overlapped it.
func (c *contents) end(e *history.Event, slots, takes int) {
	op, ok := e.F.Op(), e.Type == history.OK
	switch {
	case op == lock.Acquire && (e.Type == history.Info || ok && e.Held):
		c.holders[e.Process] = true
	case op == lock.Release && ok:
		delete(c.holders, e.Process)
	}
	if !op.Administrative() || e.Type == history.Info {
		return
	}
	c.under--
	switch {
	case c.mixed:
		c.mixed = c.under > 0
	case !ok:
		c.fewest += takes
	case op == lock.Create:
		c.fewest = max(c.fewest, slots)
	case op == lock.Add:
		c.fewest += slots
	}
}

// refuses reports whether an operation may rightly change nothing. fewest is the lowest number of slots at its
// invocation. The reason may be that there is no lock, that there are fewer slots than it removes, or that a client
// holds a slot that it removes, or by which it creates a lock only once.
func (c *contents) refuses(op lock.Op, slots, fewest int) bool {
	switch op {
	case lock.Remove:
		return fewest < slots || len(c.holders) > 0
	case lock.Destroy:
		return fewest == 0 || len(c.holders) > 0
	case lock.Create:
		return len(c.holders) > 0
	}
	return fewest == 0
}
