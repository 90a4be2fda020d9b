package linear

import "github.com/lockproof/lockproof/model/property"

// state is a possible state of a lock. A moment is the index of an event: moment i is just before event i, or at it. An
// effect at moment i thus falls into every operation that began before event i and had not ended.
type state struct {
	slots int32  // number of slots
	open  int32  // number of free slots
	full  int32  // last moment at which no slot was free
	used  uint64 // bits of the unanswered acquires that have taken a slot (pending.go)
	spent [2]int32
	cells []cell  // by slot
	left  []int32 // by number of slots: the last moment at which the lock had that number
	stage []int32 // progress of the calls that take effect in several steps
}

// cell is the state of one slot.
type cell struct {
	holder int32 // call that took the slot; or none
	opened int32 // if the slot exists and is free: last moment at which it was held or missing
	taken  int32 // if the slot is held: the last moment at which it was free
}

// never is a moment before the first event.
const never = -1

func (st *state) reset(first, slots int) {
	cells, left, stage := st.cells[:0], st.left[:0], st.stage[:0]
	for range slots + 1 {
		cells = append(cells, cell{holder: none, opened: never, taken: never})
		left = append(left, never)
	}
	*st = state{slots: int32(first), open: int32(first), full: never, cells: cells, left: left, stage: stage}
}

// fresh returns a state to fill, from the pool if possible.
func (w *frontier) fresh() *state {
	if n := len(w.pool); n > 0 {
		st := w.pool[n-1]
		w.pool = w.pool[:n-1]
		return st
	}
	return new(state)
}

func (w *frontier) clone(st *state) *state {
	w.work++
	c := w.fresh()
	cells, left, stage := c.cells[:0], c.left[:0], c.stage[:0]
	*c = *st
	c.cells = append(cells, st.cells...)
	c.left = append(left, st.left...)
	c.stage = append(stage, st.stage...)
	return c
}

// occupy makes call k take a free slot.
func (w *frontier) occupy(st *state, slot, k int32) {
	c := &st.cells[slot]
	c.holder, c.taken = k, w.now
	if slot <= st.slots {
		st.open--
	}
}

// vacate frees a slot, and gives it to the first call in the slot's queue.
func (w *frontier) vacate(st *state, slot int32) {
	w.witness(st)
	c := &st.cells[slot]
	c.holder = none
	if slot <= st.slots {
		st.opening(slot, w.now)
		w.settle(st, slot)
	}
}

// opening records that a slot exists and is free from now on.
func (st *state) opening(slot, now int32) {
	st.cells[slot].opened = now
	if st.open == 0 {
		st.full = now
	}
	st.open++
}

// settle gives a slot to the first call in its queue, if the slot is free or its holder may have lost it.
func (w *frontier) settle(st *state, slot int32) {
	if len(w.queues[slot]) == 0 || slot > st.slots {
		return
	}
	c, k := &st.cells[slot], w.queues[slot][0]
	switch {
	case w.before(k):
	case c.holder == none:
		w.occupy(st, slot, k)
	case c.holder != k && w.leaving(st, slot) && !w.r.call(c.holder).traits.has(openExit):
		w.witness(st)
		c.holder, c.taken = k, w.now
	}
}

// before reports whether the previous grant of the same slot is not answered yet.
func (w *frontier) before(k int32) bool {
	after := w.r.call(k).after
	if after == none {
		return false
	}
	c := w.r.call(after)
	return c != nil && c.ret >= w.now
}

// leaving reports whether the holder of a slot may have lost it by now.
func (w *frontier) leaving(st *state, slot int32) bool {
	h := w.r.call(st.cells[slot].holder)
	return h.exit <= w.now || h.quit <= w.now && st.missed(slot, h.quit)
}

// missed reports whether a slot did not exist at some moment since an event.
func (st *state) missed(slot, since int32) bool {
	return st.slots < slot || st.left[slot-1] > since
}

// existed reports whether a slot existed at some moment since an event.
func (st *state) existed(slot, since int32) bool {
	return st.slots >= slot || st.left[slot] > since
}

// grow adds a slot to the lock.
func (w *frontier) grow(st *state) {
	st.left[st.slots] = w.now
	st.slots++
	if st.cells[st.slots].holder == none {
		st.opening(st.slots, w.now)
	}
	w.settle(st, st.slots)
}

// shrink removes the lock's last slot.
func (w *frontier) shrink(st *state) {
	w.settle(st, st.slots)
	st.left[st.slots] = w.now
	if st.cells[st.slots].holder == none {
		st.open--
	}
	st.slots--
}

// covers reports whether a slot is free, and has been free at every moment since an event.
func (st *state) covers(slot, since int32) bool {
	c := &st.cells[slot]
	return slot <= st.slots && c.holder == none && c.opened <= since
}

// answers reports whether the answer of call k is true in a state.
func (w *frontier) answers(st *state, k int32, c *operation) bool {
	slot := int32(c.slot)
	switch c.effect {
	case takes:
		if c.traits.has(open) {
			return st.stage[w.stageOf(k)] == 1
		}
		return st.cells[slot].holder == k
	case findsFull:
		return w.sawFull(st, c)
	case findsHeld:
		if c.traits.has(open) && st.stage[w.stageOf(k)] == 1 {
			return true
		}
		return st.cells[slot].holder == c.link && st.existed(slot, c.inv)
	case leaves:
		return st.cells[slot].holder != c.link || w.leaving(st, slot)
	case findsCount:
		return int32(c.n) == st.slots || int(c.n) < len(st.left) && st.left[c.n] > c.inv
	case findsFree:
		return st.cells[slot].holder == none || st.cells[slot].taken > c.inv
	case claims, adds, creates, removes, destroys:
		return st.stage[w.stageOf(k)] == c.stages()
	}
	return c.effect != impossible
}

// sawFull reports whether an acquire that was told "full" is right: it found no free slot.
func (w *frontier) sawFull(st *state, c *operation) bool {
	if st.open == 0 || st.full > c.inv {
		return true
	}
	if w.failedAcquire == property.Strong {
		return false
	}
	for s := int32(1); s <= st.slots; s++ {
		if st.covers(s, c.inv) {
			return false
		}
	}
	return true
}

// stages is the number of steps after which a call is complete.
func (c *operation) stages() int32 {
	switch c.effect {
	case adds, creates, removes:
		return int32(c.n)
	case claims:
		return 3
	}
	return 1
}

// stageOf is the index in state.stage of the progress of call k.
func (w *frontier) stageOf(k int32) int32 {
	for _, s := range w.staged {
		if s.call == k {
			return s.stage
		}
	}
	panic("linear: a call without a stage")
}

// witness looks at the verifies under way that said "held". In st.stage it records those whose client holds the slot
// now.
func (w *frontier) witness(st *state) {
	for _, s := range w.staged {
		c := w.r.call(s.call)
		if c.effect == findsHeld && st.cells[c.slot].holder == c.link && st.existed(int32(c.slot), c.inv) {
			st.stage[s.stage] = 1
		}
	}
}
