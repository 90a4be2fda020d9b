package drawn

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// corrupt makes one small random change to a history, which may stay legal or become malformed. It returns false if
// it changed nothing.
func corrupt(c Chooser, h *history.History) bool {
	if len(h.Events) < 4 {
		return false
	}
	i := c.Below(len(h.Events))
	e := &h.Events[i]
	switch change := c.Below(10); {
	case change == 0 && e.Type == history.OK && e.Slot != history.AnySlot:
		e.Slot = uint16(1 + c.Below(3))
	case change <= 2 && i+1 < len(h.Events) && e.Process != h.Events[i+1].Process:
		h.Events[i], h.Events[i+1] = h.Events[i+1], h.Events[i]
	case change == 3:
		h.Events = slices.Delete(h.Events, i, i+1)
	case change == 4 && (e.Type == history.OK || e.Type == history.Fail):
		e.Type, e.Held, e.Reason = history.Info, false, lock.TimedOut
	case e.Type == history.OK || e.Type == history.Fail:
		lie(c, e)
	default:
		return false
	}
	return true
}

// lie changes the result of a completed operation.
func lie(c Chooser, e *history.Event) {
	switch op := e.F.Op(); {
	case op == lock.Acquire && e.Type == history.OK:
		e.Type, e.Held, e.Slot, e.Reason = history.Fail, false, 0, lock.Full
	case op == lock.Acquire:
		e.Type, e.Held, e.Slot, e.Reason = history.OK, true, uint16(1+c.Below(3)), lock.NoReason
	case op == lock.Verify && e.Held:
		e.Held, e.Reason = false, lock.Removed
	case op == lock.Verify:
		e.Held, e.Reason = true, lock.NoReason
	case op == lock.Count:
		e.Slots = uint16(c.Below(4))
	default:
		e.Type = []history.EventType{history.OK, history.Fail}[c.Below(2)]
	}
}
