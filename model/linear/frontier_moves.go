package linear

import "github.com/lockproof/lockproof/model/property"

// careful reports whether some operation under way must be tried at several moments. If not, every operation takes
// effect at its best moment.
func (w *frontier) careful() bool {
	return len(w.staged) > 0 || len(w.floatingReleases) > 0 || w.failedAcquire == property.Strong && w.fulls > 0 && w.pending.some
}

// explore adds every state that the steps of calls under way can lead to.
func (w *frontier) explore() {
	for i := 0; i < len(w.states); i++ {
		st := w.states[i]
		for _, s := range w.staged {
			w.step(st, w.r.call(s.call), s)
		}
		if len(w.floatingReleases) > 0 {
			w.give(st)
		}
		if w.failedAcquire == property.Strong && w.fulls > 0 {
			w.fill(st)
		}
	}
}

// step carries out the next step of a call in a copy of a state, if the state allows it.
func (w *frontier) step(st *state, c *operation, s stagedOperation) {
	at := st.stage[s.stage]
	if at == c.stages() || c.effect == findsHeld {
		return
	}
	next := w.clone(st)
	next.stage[s.stage]++
	if w.apply(next, c, s, at) {
		w.add(next)
		return
	}
	w.pool = append(w.pool, next)
}

// apply carries out the step of a call that follows stage at. It reports whether the state allows the step.
func (w *frontier) apply(st *state, c *operation, s stagedOperation, at int32) bool {
	slot := int32(c.slot)
	switch c.effect {
	case takes:
		return slot <= st.slots && w.seize(st, slot, s.call)
	case claims:
		return w.withdraw(st, slot, s.call, at)
	case adds:
		w.grow(st)
	case creates:
		if at == st.slots {
			w.grow(st)
		}
		return at < st.slots
	case removes:
		if st.slots > 0 {
			w.shrink(st)
		}
	case destroys:
		if st.slots > 0 {
			w.shrink(st)
		}
		if st.slots > 0 {
			st.stage[s.stage] = at // repeat this stage until no slot is left
		}
	}
	return true
}

// withdraw carries out a step of an acquire that is withdrawn. The three steps are: take the slot, see that the slot
// does not exist, give it back.
func (w *frontier) withdraw(st *state, slot, k, at int32) bool {
	switch at {
	case 0:
		return w.seize(st, slot, k)
	case 1:
		return slot > st.slots
	}
	w.vacate(st, slot)
	return true
}

// seize makes call k take a slot that is free, or whose holder may have lost it. It reports whether this is possible.
func (w *frontier) seize(st *state, slot, k int32) bool {
	if st.cells[slot].holder != none {
		if !w.leaving(st, slot) {
			return false
		}
		w.witness(st)
		st.cells[slot].holder = k
		st.cells[slot].taken = w.now
		return true
	}
	w.occupy(st, slot, k)
	return true
}

// give adds the states in which a holder loses its slot now, if the moment of the loss matters.
func (w *frontier) give(st *state) {
	for s := int32(1); s < int32(len(st.cells)); s++ {
		h := st.cells[s].holder
		if h == none || !w.r.call(h).traits.has(openExit) || !w.leaving(st, s) {
			continue
		}
		next := w.clone(st)
		w.vacate(next, s)
		w.add(next)
	}
}

// add adds a state, unless another state dominates it.
func (w *frontier) add(st *state) {
	since := w.horizon()
	for _, o := range w.states {
		if o.dominates(st, since) {
			w.pool = append(w.pool, st)
			return
		}
	}
	w.work += len(w.states)
	if len(w.states) >= w.effort.most {
		w.incomplete = true
		w.pool = append(w.pool, st)
		return
	}
	w.states = append(w.states, st)
}

// calm removes the calls that no longer hold a slot in any state from the list of floating releases.
func (w *frontier) calm() {
	n := 0
	for _, k := range w.floatingReleases {
		if c := w.r.call(k); c.effect == mayTake || c.ret > w.now || w.holds(k, c) {
			w.floatingReleases[n] = k
			n++
		}
	}
	w.floatingReleases = w.floatingReleases[:n]
}

// holds reports whether a call holds its slot in some state.
func (w *frontier) holds(k int32, c *operation) bool {
	for _, st := range w.states {
		if st.cells[c.slot].holder == k {
			return true
		}
	}
	return false
}

// merge discards dominated states. If too many are left, it discards the last ones, so that the check is incomplete.
func (w *frontier) merge() {
	if len(w.floatingReleases) > 0 {
		w.calm()
	}
	if len(w.states) < 2 {
		return
	}
	w.work += len(w.states)
	since := w.horizon()
	n := 0
	for i, st := range w.states {
		if w.dominated(st, i, n, since) {
			w.pool = append(w.pool, st)
			continue
		}
		w.states[n] = st
		n++
	}
	w.states = w.states[:n]
	if keep := w.effort.keep; n > keep {
		w.incomplete = true
		w.pool = append(w.pool, w.states[keep:]...)
		w.states = w.states[:keep]
	}
}

// dominated reports whether the i-th state is dominated by one of the first n states or by a later one. The last of
// equal states is thus kept.
func (w *frontier) dominated(st *state, i, n int, since int32) bool {
	for _, o := range w.states[:n] {
		if o.dominates(st, since) {
			return true
		}
	}
	for _, o := range w.states[i+1:] {
		if o.dominates(st, since) {
			return true
		}
	}
	return false
}

// horizon is the moment at which the oldest call under way began. Earlier moments no longer matter.
func (w *frontier) horizon() int32 {
	since := w.now
	for _, k := range w.waiting {
		since = min(since, w.r.call(k).inv)
	}
	return since
}

// dominates reports whether state o can be discarded: whatever can happen from o can also happen from st.
func (st *state) dominates(o *state, since int32) bool {
	if st.slots != o.slots || st.used&^o.used != 0 || earlier(st.full, o.full, since) {
		return false
	}
	if st.spent[losing] > o.spent[losing] { // acquires of the kind keeping are compared as holders, below
		return false
	}
	for i := range st.stage {
		if st.stage[i] != o.stage[i] {
			return false
		}
	}
	for i := range st.cells {
		a, b := &st.cells[i], &o.cells[i]
		if a.holder != b.holder || earlier(a.opened, b.opened, since) || earlier(a.taken, b.taken, since) {
			return false
		}
		if earlier(st.left[i], o.left[i], since) {
			return false
		}
	}
	return true
}

// earlier reports whether moment a is before moment b, and an operation that began at the event since can notice the
// difference.
func earlier(a, b, since int32) bool { return a < b && b > since }
