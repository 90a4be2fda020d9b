package drawn

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// world simulates a correct lock and its clients, so that the drawn history is legal.
type world struct {
	Kinds
	c        Chooser
	n        int     // number of slots
	holder   []int32 // process that holds a slot, by slot; 0 if free
	taken    []int   // how often a slot was acquired, by slot
	all      []*actor
	halfOpen []int32 // connections that clients have abandoned and the broker still considers open
	dying    []int32 // connections of crashed clients that have not ended
	ended    []int32 // processes whose connections have ended, and whose Gone is still to come
	limbo    []limbo // possible later effects of abandoned operations
	next     int32
	h        history.History
}

// limbo is a possible later effect of an operation that its process gave up. come tries to apply it, and returns
// whether it is complete.
type limbo struct {
	process int32
	come    func() bool
}

// actor is one simulated client.
type actor struct {
	process int32
	admin   bool
	dead    bool
	gone    bool   // the client's connection has ended
	slot    int    // the slot that the client believes to hold; 0 if none
	op      *doing // the client's present operation; nil if none
}

// doing is an operation under way: its invocation, its remaining effects in order, and its answer.
type doing struct {
	inv     history.Event
	moments []func() bool // returns false if the effect is not possible yet
	answer  history.Event
}

// mostSlots is the number of slots beyond which administrators add none.
const mostSlots = 5

// History draws a history, and then changes it d.Corrupts times.
func History(c Chooser, d Kinds) *history.History {
	w := &world{Kinds: d, c: c, n: d.Slots, holder: make([]int32, 64), taken: make([]int, 64)}
	w.h = history.History{Kind: d.Kind, Locks: []string{"jobs"}, Slots: []int{d.Slots}, GoneLate: d.Late, GoneMayFree: d.Loose}
	if d.Kind == lock.Mutex {
		w.h.Slots[0], w.n = 0, 1
	}
	for i := range d.Clients {
		w.next++
		w.all = append(w.all, &actor{process: w.next, admin: i < d.Admins})
	}
	for range d.Steps {
		w.step()
	}
	for range d.Corrupts {
		for tries := 0; tries < 10 && !corrupt(c, &w.h); tries++ {
		}
	}
	return &w.h
}

func (w *world) emit(e history.Event) {
	e.Time = int64(len(w.h.Events)) * 1000
	w.h.Events = append(w.h.Events, e)
}

func (w *world) step() {
	if w.c.Below(100) < w.Faults {
		w.fault()
		return
	}
	if w.Late && w.c.Below(4) == 0 {
		w.pass()
		return
	}
	if len(w.limbo) > 0 && w.c.Below(6) == 0 {
		i := w.c.Below(len(w.limbo))
		if w.limbo[i].come() {
			w.limbo = slices.Delete(w.limbo, i, i+1)
		}
		return
	}
	a := w.all[w.c.Below(len(w.all))]
	switch {
	case a.dead:
	case a.op == nil:
		w.invoke(a)
	case len(a.op.moments) > 0:
		if a.op.moments[0]() && a.op != nil {
			a.op.moments = a.op.moments[1:]
		}
	default:
		w.complete(a)
	}
}

func (w *world) complete(a *actor) {
	e := a.op.answer
	e.Process, e.F, e.Lock = a.process, a.op.inv.F, a.op.inv.Lock
	a.op = nil
	w.emit(e)
}

// begin invokes operation f of client a.
func (w *world) begin(a *actor, f lock.Op, slot, slots int) *doing {
	if a.gone && a.slot == 0 {
		a.gone = false
		if !w.Reuse && !w.Loose {
			w.next++
			a.process = w.next
		}
	}
	e := history.Event{Type: history.Invoke, Process: a.process, F: history.F(f), Slot: uint16(slot), Slots: uint16(slots)}
	a.op = &doing{inv: e, answer: history.Event{Type: history.OK, Slot: uint16(slot)}}
	w.emit(e)
	return a.op
}
