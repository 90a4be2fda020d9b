package drawn

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// invoke lets a client begin an operation.
func (w *world) invoke(a *actor) {
	switch {
	case a.admin:
		w.administer(a)
	case a.slot > 0 && a.gone && !w.Loose:
		w.stale(a)
	case a.slot == 0 || w.c.Below(8) == 0:
		w.acquire(a)
	case w.c.Below(3) == 0 && !w.Unnamed:
		w.verify(a)
	default:
		w.release(a)
	}
}

// stale lets a client whose connection is gone verify or release the slot that it held.
func (w *world) stale(a *actor) {
	s := a.slot
	if w.c.Below(2) == 0 {
		op := w.begin(a, lock.Verify, w.named(s), 0)
		op.answer.Reason = lock.Disconnected
	} else {
		op := w.begin(a, lock.Release, w.named(s), 0)
		op.answer.Type = []history.EventType{history.Info, history.OK}[w.c.Below(2)]
		if w.Blind {
			op.answer = history.Event{Type: history.Info, Reason: lock.Disconnected}
		}
	}
	a.slot = 0
}

// reclaim lets a client verify its slot. If the slot was freed meanwhile, the verify acquires it again.
func (w *world) reclaim(a *actor) {
	s, process := a.slot, a.process
	op := w.begin(a, lock.Verify, s, 0)
	a.gone = false
	op.moments = []func() bool{func() bool {
		op.answer.Held = w.n >= s && (w.holder[s] == process || w.holder[s] == 0)
		if op.answer.Held {
			w.holder[s] = process
			w.taken[s]++
		} else if a.op == op {
			a.slot = 0
		}
		return true
	}}
}

func (w *world) named(slot int) int {
	if w.Unnamed {
		return history.AnySlot
	}
	return slot
}

func (w *world) acquire(a *actor) {
	op := w.begin(a, lock.Acquire, 0, 0)
	process := a.process
	slot := 1
	var look func() bool
	grant := func(s int) {
		w.holder[s] = process
		w.taken[s]++
		if a.op == op {
			a.slot = s
		}
		op.answer = history.Event{Type: history.OK, Held: true, Slot: uint16(w.named(s))}
	}
	look = func() bool {
		if w.Atomic || w.Unnamed {
			for s := 1; s <= w.n; s++ {
				if w.holder[s] == 0 {
					grant(s)
					return true
				}
			}
			op.answer = history.Event{Type: history.Fail, Reason: lock.Full}
			return true
		}
		if slot > w.n {
			op.answer = history.Event{Type: history.Fail, Reason: lock.Full}
			return true
		}
		if w.holder[slot] == 0 {
			grant(slot)
			return true
		}
		slot++
		return false
	}
	switch w.c.Below(12) {
	case 0:
		op.answer = history.Event{Type: history.Fail, Reason: []lock.Reason{lock.GaveUp, lock.Disconnected, lock.NoReason}[w.c.Below(3)]}
	case 1:
		w.withdraw(op, process)
	default:
		op.moments = []func() bool{look}
	}
}

// withdraw lets an acquire claim a slot without checking that the slot exists, and release it again.
func (w *world) withdraw(op *doing, process int32) {
	s := 1 + w.c.Below(mostSlots-1)
	op.answer = history.Event{Type: history.Fail, Reason: lock.NoReason}
	if w.Unnamed || w.Kind != lock.Semaphore {
		return
	}
	claimed, missed := false, false
	op.moments = []func() bool{
		func() bool {
			if w.holder[s] == 0 {
				w.holder[s], claimed = process, true
				op.answer = history.Event{Type: history.Fail, Reason: lock.Withdrawn, Slot: uint16(s)}
			}
			return true
		},
		func() bool {
			missed = w.n < s
			return missed || !claimed
		},
		func() bool {
			if claimed && w.holder[s] == process {
				w.holder[s] = 0
			}
			return true
		},
	}
}

func (w *world) verify(a *actor) {
	if w.Loose {
		w.reclaim(a)
		return
	}
	s, process := a.slot, a.process
	op := w.begin(a, lock.Verify, s, 0)
	op.moments = []func() bool{func() bool {
		if w.n >= s {
			op.answer.Held = true
			return true
		}
		op.answer.Reason = lock.Removed
		op.moments = append(op.moments, func() bool {
			if w.holder[s] == process {
				w.holder[s] = 0
			}
			return true
		})
		if a.op == op {
			a.slot = 0
		}
		return true
	}}
	if w.c.Below(16) == 0 {
		op.moments = nil // "not held", without a reason
		a.slot = 0
	}
}

func (w *world) release(a *actor) {
	s, process := a.slot, a.process
	op := w.begin(a, lock.Release, w.named(s), 0)
	a.slot = 0
	op.moments = []func() bool{func() bool {
		if w.holder[s] == process {
			w.holder[s] = 0
		}
		return true
	}}
	if w.c.Below(16) == 0 {
		op.moments, op.answer = nil, history.Event{Type: history.Fail, Reason: lock.Busy}
		a.slot = s
	}
}

func (w *world) administer(a *actor) {
	if w.Alone {
		for _, o := range w.all {
			if o.op != nil && o.op.inv.F.Op().Administrative() {
				return
			}
		}
	}
	kinds := []lock.Op{lock.Add, lock.Remove, lock.Remove, lock.Create, lock.Destroy, lock.Count, lock.Wait}
	if w.Kind == lock.PersistentMutex {
		kinds = []lock.Op{lock.Create, lock.Destroy, lock.Count, lock.Wait}
	}
	f := kinds[w.c.Below(len(kinds))]
	x := 1 + w.c.Below(2)
	switch f {
	case lock.Add:
		if w.n+x > mostSlots {
			return
		}
		w.repeat(w.begin(a, f, 0, x), x, func() { w.n++ })
	case lock.Remove:
		w.repeat(w.begin(a, f, 0, x), x, func() { w.n = max(0, w.n-1) })
	case lock.Create:
		if w.Kind == lock.PersistentMutex {
			x = 1
		}
		op := w.begin(a, f, 0, x)
		for i := range x {
			op.moments = append(op.moments, func() bool {
				if w.n == i {
					w.n++
				}
				return w.n > i
			})
		}
	case lock.Destroy:
		op := w.begin(a, f, 0, 0)
		op.moments = []func() bool{func() bool { w.n = max(0, w.n-1); return w.n == 0 }}
	case lock.Count:
		op := w.begin(a, f, 0, 0)
		op.moments = []func() bool{func() bool { op.answer.Slots = uint16(w.n); return true }}
	case lock.Wait:
		s := 1 + w.c.Below(3)
		if w.Kind != lock.Semaphore {
			s = 1
		}
		op := w.begin(a, f, s, 0)
		op.moments = []func() bool{func() bool { return w.holder[s] == 0 }}
	}
	if w.c.Below(12) == 0 {
		a.op.moments, a.op.answer = nil, history.Event{Type: history.Fail, Reason: lock.Busy}
	}
}

func (w *world) repeat(op *doing, n int, effect func()) {
	for range n {
		op.moments = append(op.moments, func() bool { effect(); return true })
	}
}
