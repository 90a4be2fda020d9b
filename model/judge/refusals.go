package judge

import (
	"fmt"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// refusals judges the refusals of a semaphore whose permits have no numbers. Package linear does not judge them under
// weak semantics, as no answer says which permit was seen taken. But if fewer holds than permits can overlap a call,
// some permit was never taken during the call.
type refusals struct {
	h       *history.History
	o       linear.Options
	held    []int           // by lock: the number of holds that may have begun, and are not known to have ended
	begun   []int           // by lock: the number of acquires called, without those that were refused
	asking  map[int32]asked // by process: the acquire under way
	named   bool            // slots have numbers, or their number changes
	verdict linear.Verdict
}

// asked is what was known when an acquire was called.
type asked struct {
	event       int
	held, begun int
	limit       int // what its caller states; 0 is none
}

func newRefusals(h *history.History, o linear.Options) *refusals {
	r := &refusals{h: h, o: o, held: make([]int, len(h.Locks)), begun: make([]int, len(h.Locks)), asking: make(map[int32]asked)}
	r.verdict.Property, r.verdict.Event = property.Linearizable, -1
	return r
}

// event handles the i-th event of a valid history.
func (r *refusals) event(i int, e *history.Event) {
	op := e.F.Op()
	r.named = r.named || e.Slot != history.AnySlot || op.Administrative()
	switch {
	case e.Process == history.Nemesis:
	case op == lock.Release && e.Type == history.OK:
		r.held[e.Lock]--
	case op == lock.Acquire && e.Type == history.Invoke:
		r.asking[e.Process] = asked{event: i, held: r.held[e.Lock], begun: r.begun[e.Lock], limit: int(e.Slots)}
		r.held[e.Lock]++
		r.begun[e.Lock]++
	case op == lock.Acquire && e.Type == history.Fail:
		r.held[e.Lock]--
		r.begun[e.Lock]--
		r.refused(i, e)
	}
	if e.Type != history.Invoke {
		delete(r.asking, e.Process)
	}
}

// refused judges a refusal, if its reason is that all permits were taken.
func (r *refusals) refused(i int, e *history.Event) {
	a, permits := r.asking[e.Process], r.h.Slots[e.Lock]
	if r.o.Permits > 0 {
		permits = r.o.Permits
	}
	most := a.held + r.begun[e.Lock] - a.begun
	if e.Reason != lock.Full || a.limit > 0 && a.limit < permits || most >= permits || r.verdict.Decision == linear.Illegal {
		return
	}
	r.verdict.Decision, r.verdict.Event, r.verdict.Lock = linear.Illegal, i, int(e.Lock)
	r.verdict.Why = fmt.Sprintf("%s was refused a permit (%s), but at most %d of %d can have been taken during the call",
		r.h.Who(e.Process), r.h.Moments(a.event, i), max(0, most), permits)
}

// found is the finding f, or else that a refusal is wrong.
func (r *refusals) found(v linear.Verdict) linear.Verdict {
	if v.Decision != linear.Illegal && r.verdict.Decision == linear.Illegal && r.h.Kind == lock.Semaphore && !r.named {
		r.verdict.Checked = v.Checked
		return r.verdict
	}
	return v
}
