package beliefs

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// contents is what a history allows of a lock's state. It decides whether an administrative operation may rightly say
// that it changed nothing, for example because there are no slots to remove.
type contents struct {
	fewest int  // the lowest number of slots that the lock may have now
	under  int  // administrative operations under way, including those that never return
	mixed  bool // two of these have overlapped, since the last time that none was under way
	// holders are the processes that may hold a slot. The broker may still have a client's hold although the client no
	// longer believes in it.
	holders map[int32]bool
}

// begin handles the invocation of an operation, which may take effect from now on. takes is the number of slots that
// the operation may remove.
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

// end handles the answer to an operation. takes is the number of slots that the operation may have removed. Its effect
// is known only if no other administrative operation overlapped it.
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

// refuses reports whether an operation may rightly fail without a change. fewest is the lowest possible number of slots
// at its invocation. A remove or destroy may fail because there are too few slots, or because clients hold slots. A
// create may fail because the lock exists and has holders. Any other operation may fail because there may be no lock.
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
