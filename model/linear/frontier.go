package linear

import (
	"slices"

	"github.com/lockproof/lockproof/model/property"
)

// frontier is the fast check. It goes through the events of a lock once, and keeps every state of the lock that the
// answers so far allow. An operation with a known best moment (classify.go) takes effect at that moment, and leads from
// each state to one other. An open operation may take effect or not, so it multiplies the states. Open operations are
// steps of administration, unanswered acquires, and operations whose moment affects others. A state that contradicts an
// answer is discarded. If no state is left, the history is illegal.
//
// An open operation takes effect just before an event that asks for the effect: no earlier moment makes a difference.
// Among states that differ only in when slots were last free, taken, added or removed, the latest dominates, and the
// others are discarded.
type frontier struct {
	r             *normaliser
	failedAcquire property.FailedAcquire
	now           int32 // index of the current event

	states []*state
	pool   []*state
	dead   *state // the last discarded state, for the explanation

	queues           [][]int32 // by slot: grants under way without the trait open, sorted by answer
	waiting          []int32   // calls under way whose answers depend on effects of other calls
	fulls            int       // number of calls in waiting that found the lock full
	staged           []stagedOperation
	free             []int32 // stage indices not in use
	stages           int32   // number of stage indices
	floatingReleases []int32 // calls with the trait openExit that may still hold their slot
	pending          pendingAcquires

	effort     effort
	work       int
	incomplete bool // states were left out, so having no state left proves nothing
}

// stagedOperation is a call under way that takes effect in several steps. Its progress is state.stage[stage].
type stagedOperation struct {
	call, stage int32
}

// effort bounds the work of the fast check. At a bound, states are left out. The check can then still find a history
// legal, but not illegal.
type effort struct {
	keep int // number of states kept from one event to the next
	most int // number of states at one event
	work int // number of states made and compared, plus four for each event
}

// efforts are tried in this order until one of them decides. The first usually does. About one history in a few
// thousand needs the last.
var efforts = [...]effort{
	{keep: 8, most: 1 << 10, work: 1 << 21},
	{keep: 1 << 9, most: 1 << 10, work: 1 << 21},
	{keep: 1 << 11, most: 1 << 12, work: 1 << 24},
}

// readEfforts are the efforts for a history that is read. A further effort needs another pass over the history. The
// first one is therefore greater than efforts[0], so that it fails less often.
var readEfforts = [...]effort{{keep: 32, most: 1 << 10, work: 1 << 21}, efforts[1], efforts[2]}

// unproved is the finding if a client used a slot that only an unanswered acquire can have taken.
var unproved = Finding{
	Event: -1, How: byFastCheck, Why: "a slot is verified or released that only an unanswered acquire can have taken",
}

// tooMany is the finding if the check reaches a bound of its effort.
var tooMany = Finding{Event: -1, How: byFastCheck, Why: "there are too many ways to explain it"}

// tooManySlots is the finding if a lock has more slots than the fast check supports.
var tooManySlots = Finding{Event: -1, How: byFastCheck, Why: "there are too many slots"}

// run decides the history of the lock that the normaliser has prepared. It tries the efforts in order.
func (w *frontier) run(r *normaliser, s property.FailedAcquire) Finding {
	switch {
	case r.unproven:
		return unproved
	case r.slots > maxFrontierSlots:
		return tooManySlots
	}
	f := tooMany
	for i := 0; i < len(efforts) && f.Decision == Undecided; i++ {
		f = w.walk(r, s, efforts[i])
	}
	return f
}

// walk goes through all events with the given effort.
func (w *frontier) walk(r *normaliser, s property.FailedAcquire, e effort) Finding {
	w.reset(r, s, e)
	for i, k := range r.at {
		if f, over := w.event(int32(i), k); over {
			return f
		}
	}
	return legal
}

// legal is the finding that a linearization explains the whole history.
var legal = Finding{Decision: Legal, Event: -1, How: byFastCheck}

// event handles event i. k is the call of the event, or a negative mark (see normaliser.at). If over is true, f is the
// final finding.
func (w *frontier) event(i, k int32) (f Finding, over bool) {
	w.now = i
	switch {
	case k >= 0:
		c := w.r.call(k)
		if c.inv == i {
			w.begin(k, c)
		} else {
			w.end(k, c)
		}
	case k < none:
		w.disconnect(k)
	}
	switch {
	case len(w.states) == 0:
		return w.failed(k), true
	case w.work > w.effort.work+4*int(i):
		return tooMany, true
	}
	return Finding{}, false
}

// maxFrontierSlots is the largest number of slots that the fast check supports.
const maxFrontierSlots = 1 << 12

func (w *frontier) reset(r *normaliser, s property.FailedAcquire, e effort) {
	w.pool = append(w.pool, w.states...)
	w.effort = e
	w.r, w.failedAcquire, w.now, w.states, w.dead = r, s, none, w.states[:0], nil
	w.waiting, w.fulls, w.staged, w.free, w.stages = w.waiting[:0], 0, w.staged[:0], w.free[:0], 0
	w.floatingReleases, w.work, w.incomplete = w.floatingReleases[:0], 0, false
	for len(w.queues) <= r.slots {
		w.queues = append(w.queues, nil)
	}
	for i := range w.queues {
		w.queues[i] = w.queues[i][:0]
	}
	w.pending.reset(r.slots)
	first := w.fresh()
	first.reset(r.first, r.slots)
	w.states = append(w.states, first)
}

// begin handles the invocation of call k.
func (w *frontier) begin(k int32, c *operation) {
	switch c.effect {
	case takes:
		if !c.traits.has(open) {
			w.enqueue(k, c)
			w.settleAll(c.slot)
		}
	case frees:
		w.settleAll(c.slot)
	case mayTake:
		w.pending.add(w, k, c)
	case findsFull:
		w.fulls++
		w.waiting = append(w.waiting, k)
	case findsHeld, findsCount, findsFree, leaves, claims:
		w.waiting = append(w.waiting, k)
	}
	if c.staged() {
		w.stage(k)
	}
	if c.traits.has(openExit) {
		w.floatingReleases = append(w.floatingReleases, k)
	}
}

// enqueue adds a grant to the queue for its slot, which is sorted by the events of the answers.
func (w *frontier) enqueue(k int32, c *operation) {
	q := append(w.queues[c.slot], k)
	for i := len(q) - 1; i > 0 && w.r.call(q[i-1]).ret > c.ret; i-- {
		q[i], q[i-1] = q[i-1], q[i]
	}
	w.queues[c.slot] = q
}

func (w *frontier) settleAll(slot uint16) {
	for _, st := range w.states {
		w.settle(st, int32(slot))
	}
}

// stage gives a call that takes effect in steps an index for its progress.
func (w *frontier) stage(k int32) {
	if len(w.free) == 0 {
		for _, st := range w.states {
			st.stage = append(st.stage, 0)
		}
		w.free = append(w.free, w.stages)
		w.stages++
	}
	n := len(w.free) - 1
	w.staged = append(w.staged, stagedOperation{call: k, stage: w.free[n]})
	w.free = w.free[:n]
}

// end handles the answer of call k. It adds every state in which the answer may be true, and then discards the states
// that contradict it.
func (w *frontier) end(k int32, c *operation) {
	if w.careful() {
		w.explore()
	}
	switch {
	case c.effect == takes:
		w.settleAll(c.slot)
	case c.effect == findsFull && w.failedAcquire == property.Weak:
		w.placePending(c)
	}
	w.keep(k, c)
	w.close(k, c)
	if c.effect == frees || c.effect == leaves {
		w.release(c)
	}
	w.merge()
}

// keep discards the states in which the answer of call k is false.
func (w *frontier) keep(k int32, c *operation) {
	n := 0
	for _, st := range w.states {
		if w.answers(st, k, c) {
			w.states[n] = st
			n++
			continue
		}
		w.dead = st
		w.pool = append(w.pool, st)
	}
	w.states = w.states[:n]
}

// close removes a call that has ended from the lists of calls under way.
func (w *frontier) close(k int32, c *operation) {
	switch c.effect {
	case takes:
		if !c.traits.has(open) {
			w.queues[c.slot] = remove(w.queues[c.slot], k)
		}
	case findsFull:
		w.fulls--
		w.stopWaiting(k)
	case findsHeld, findsCount, findsFree, leaves, claims:
		w.stopWaiting(k)
	}
	if c.staged() {
		w.unstage(k)
	}
}

// remove removes a call from a list, and keeps the order of the others.
func remove(list []int32, k int32) []int32 {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == k {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

func (w *frontier) stopWaiting(k int32) {
	last := len(w.waiting) - 1
	for i := last; i >= 0; i-- {
		if w.waiting[i] == k {
			w.waiting[i] = w.waiting[last]
			w.waiting = w.waiting[:last]
			return
		}
	}
}

func (w *frontier) unstage(k int32) {
	for i, s := range w.staged {
		if s.call != k {
			continue
		}
		for _, st := range w.states {
			st.stage[s.stage] = 0
		}
		w.free = append(w.free, s.stage)
		w.staged = append(w.staged[:i], w.staged[i+1:]...)
		return
	}
}

// release frees the slot that a release or a verify has given up, in every state in which it is still held.
func (w *frontier) release(c *operation) {
	for _, st := range w.states {
		if st.cells[c.slot].holder == c.link {
			w.vacate(st, int32(c.slot))
		}
	}
}

// disconnect handles the end of one client's connection, or of all. The clients' slots become free, and their
// unanswered operations can no longer take effect.
func (w *frontier) disconnect(at int32) {
	if w.careful() {
		w.explore()
	}
	w.pending.last(w)
	for _, st := range w.states {
		for s := int32(1); s <= int32(w.r.slots); s++ {
			if h := st.cells[s].holder; h != none && (at == restarted || w.r.call(h).client == clientOf(at)) {
				w.vacate(st, s)
			}
		}
	}
	w.expire()
	w.pending.expire(w)
	w.merge()
}

// expire removes unanswered calls that cannot take effect after the current event.
func (w *frontier) expire() {
	for i := len(w.staged) - 1; i >= 0; i-- {
		if k := w.staged[i].call; w.r.call(k).ret == w.now {
			w.unstage(k)
		}
	}
	for i := len(w.waiting) - 1; i >= 0; i-- {
		if k := w.waiting[i]; w.r.call(k).ret == w.now {
			w.stopWaiting(k)
		}
	}
}

// disturbed handles a call c that needs its slot to be free. If a holder may lose the slot before the answer, every
// moment of that loss must be tried.
func (w *frontier) disturbed(c *operation) {
	for _, st := range w.states {
		if h := st.cells[c.slot].holder; h != none && w.r.call(h).ends() < c.ret {
			w.r.openExit(w.r.call(h))
		}
	}
}

// refer calls keep for each call that is under way, or that holds a slot in some state.
func (w *frontier) refer(keep func(k int32)) {
	for _, st := range w.states {
		for i := range st.cells {
			keep(st.cells[i].holder)
		}
	}
	for _, list := range append(slices.Clone(w.queues), w.waiting, w.floatingReleases, w.pending.faithful) {
		for _, k := range list {
			keep(k)
		}
	}
	for _, s := range w.staged {
		keep(s.call)
	}
	for _, p := range w.pending.all {
		keep(p.call)
	}
	for _, kind := range w.pending.kinds {
		keep(kind.call)
	}
}

// makeRoom extends the slices, so that the lock may have more slots.
func (w *frontier) makeRoom(slots int) {
	for len(w.queues) <= slots {
		w.queues = append(w.queues, nil)
	}
	w.pending.grow(slots)
	for _, st := range w.states {
		for len(st.cells) <= slots {
			st.cells = append(st.cells, cell{holder: none, opened: never, taken: never})
			st.left = append(st.left, never)
		}
	}
}
