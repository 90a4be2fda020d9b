package beliefs

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// contents is what there may be of a lock, by its history alone: an administrator may rightly say that there is nothing to
// be changed.
type contents struct {
	fewest int  // the lowest possible number of slots now
	under  int  // administrative operations under way, those that never return among them
	mixed  bool // others were, since the last moment without any
	// holders are the processes that may hold a slot: the broker may still have a grant in which its client no longer
	// believes.
	holders map[int32]bool
}

// begin is the invocation of an operation, which may take effect from now on. It returns the number of slots that it
// may remove.
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

// end is an operation that has been answered. Only one that no other overlapped is known to have made slots, or to have
// left them as they were.
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
// invocation. There may be no lock, fewer slots than it removes, or a holder of a slot that it removes or by which it
// creates a lock only once.
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
