package linear

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// chooser makes the choices by which a history is drawn.
type chooser interface{ below(n int) int }

// seeded chooses by a seed, so that a history can be drawn again.
type seeded struct{ *rand.Rand }

func (s seeded) below(n int) int { return s.IntN(n) }

func bySeed(seed uint64) seeded { return seeded{rand.New(rand.NewPCG(seed, 1))} }

// byBytes chooses by bytes, those of a fuzzer or of rapid; when there are no more, by zeros.
type byBytes struct{ rest *[]byte }

func (b byBytes) below(n int) int {
	if len(*b.rest) == 0 {
		return 0
	}
	v := int((*b.rest)[0])
	*b.rest = (*b.rest)[1:]
	return v % n
}

// drawn says what kinds of histories are drawn.
type drawn struct {
	kind     lock.Kind
	clients  int
	slots    int
	steps    int // things that happen
	admins   int // clients that administer
	faults   int // of a hundred things that happen
	alone    bool
	atomic   bool // acquires look at all slots at once
	unnamed  bool
	blind    bool // connections' ends are not recorded
	loose    bool // the end of a connection frees what its client has, or does not
	late     bool // the end of a crashed client's connection is recorded when it is seen
	reuse    bool // a client that lost its connection goes on under its number
	corrupts int  // changes made to the history afterwards
}

// drawAny draws what to draw.
func drawAny(c chooser) drawn {
	d := drawn{
		clients: 2 + c.below(3), slots: c.below(4), steps: 8 + c.below(50), faults: []int{0, 0, 3, 12}[c.below(4)],
		atomic: c.below(2) == 0, reuse: c.below(4) == 0, blind: c.below(6) == 0,
	}
	switch c.below(6) {
	case 0:
		d.kind, d.slots = lock.Mutex, 1
	case 1:
		d.kind, d.slots = lock.PersistentMutex, c.below(2)
	case 2:
		d.unnamed, d.slots = true, 1+c.below(3)
	}
	if d.kind != lock.Mutex && !d.unnamed {
		d.admins = []int{0, 0, 1, 2}[c.below(4)]
		d.alone = c.below(2) == 0
	}
	if c.below(3) > 0 {
		d.corrupts = 1 + c.below(4)
	}
	d.late = c.below(4) == 0
	d.loose = c.below(3) == 0
	return d
}

// world is a lock and its clients, by which histories are drawn that are legal.
type world struct {
	drawn
	c        chooser
	n        int     // slots
	holder   []int32 // by slot: process
	taken    []int   // by slot: how often it was
	all      []*actor
	halfOpen []int32 // connections that their clients gave up and the broker still has
	dying    []int32 // connections of crashed clients that have not ended
	ended    []int32 // those that have, which nobody has seen yet
	limbo    []limbo // effects of what was given up that may still come
	next     int32
	h        history.History
}

// limbo is what may still come of an operation that its process gave up.
type limbo struct {
	process int32
	come    func() bool
}

// actor is one client.
type actor struct {
	process int32
	admin   bool
	dead    bool
	gone    bool   // its connection is
	slot    int    // that it believes to hold
	op      *doing // under way
}

// doing is an operation under way: what happens at each of its moments, and its answer.
type doing struct {
	inv     history.Event
	moments []func() bool // false: the moment cannot come now
	answer  history.Event
}

// mostSlots is from where on none are added any more.
const mostSlots = 5

func drawHistory(c chooser, d drawn) *history.History {
	w := &world{drawn: d, c: c, n: d.slots, holder: make([]int32, 64), taken: make([]int, 64)}
	w.h = history.History{Kind: d.kind, Locks: []string{"jobs"}, Slots: []int{d.slots}, GoneLate: d.late, GoneMayFree: d.loose}
	if d.kind == lock.Mutex {
		w.h.Slots[0], w.n = 0, 1
	}
	for i := range d.clients {
		w.next++
		w.all = append(w.all, &actor{process: w.next, admin: i < d.admins})
	}
	for range d.steps {
		w.step()
	}
	for range d.corrupts {
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
	if w.c.below(100) < w.faults {
		w.fault()
		return
	}
	if w.late && w.c.below(4) == 0 {
		w.pass()
		return
	}
	if len(w.limbo) > 0 && w.c.below(6) == 0 {
		i := w.c.below(len(w.limbo))
		if w.limbo[i].come() {
			w.limbo = slices.Delete(w.limbo, i, i+1)
		}
		return
	}
	a := w.all[w.c.below(len(w.all))]
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

// begin invokes an operation.
func (w *world) begin(a *actor, f lock.Op, slot, slots int) *doing {
	if a.gone && a.slot == 0 {
		a.gone = false
		if !w.reuse && !w.loose {
			w.next++
			a.process = w.next
		}
	}
	e := history.Event{Type: history.Invoke, Process: a.process, F: history.F(f), Slot: uint16(slot), Slots: uint16(slots)}
	a.op = &doing{inv: e, answer: history.Event{Type: history.OK, Slot: uint16(slot)}}
	w.emit(e)
	return a.op
}

func (w *world) fault() {
	a := w.all[w.c.below(len(w.all))]
	switch w.c.below(6) {
	case 0: // it dies
		if !a.dead {
			a.dead = true
			if a.op != nil {
				w.leave(a)
			}
			w.world(history.Crash, a.process)
			w.dying = append(w.dying, a.process)
		}
	case 1, 2: // its connection ends, or one that was given up
		process := a.process
		if n := len(w.halfOpen); n > 0 && w.c.below(2) == 0 {
			process, w.halfOpen = w.halfOpen[n-1], w.halfOpen[:n-1]
		}
		w.end(process)
		w.world(history.Gone, process)
	case 3:
		if w.c.below(4) == 0 {
			for _, a := range w.all {
				w.end(a.process)
			}
			if !w.loose {
				clear(w.holder)
				w.limbo, w.halfOpen = nil, nil
			}
			w.world(history.Restart, history.Nemesis)
		}
	default:
		if a.op != nil && !a.dead {
			w.giveUp(a)
		}
	}
}

// pass ends the connection of a crashed client, or has the end of one seen.
func (w *world) pass() {
	if n := len(w.ended); n > 0 && w.c.below(2) == 0 {
		w.world(history.Gone, w.ended[n-1])
		w.ended = w.ended[:n-1]
	} else if n := len(w.dying); n > 0 {
		w.end(w.dying[n-1])
		w.ended = append(w.ended, w.dying[n-1])
		w.dying = w.dying[:n-1]
	}
}

// giveUp has a client not wait for its answer any more. A verify that does says no, and its client
// goes on on another connection.
func (w *world) giveUp(a *actor) {
	w.leave(a)
	e := history.Event{Type: history.Info, Process: a.process, F: a.op.inv.F, Reason: lock.TimedOut}
	switch {
	case a.op.inv.F.Op() == lock.Verify && w.c.below(2) == 0:
		e.Type, e.Slot = history.OK, a.op.inv.Slot
		a.gone, w.halfOpen = true, append(w.halfOpen, a.process)
	case w.c.below(3) == 0:
		e.Slot = a.op.answer.Slot
	}
	a.op = nil
	w.emit(e)
}

// leave lets what is left of an operation come later, or never.
func (w *world) leave(a *actor) {
	op := a.op
	if op.inv.F.Op() == lock.Release || a.slot > 0 && op.inv.F.Op() == lock.Verify {
		a.slot = 0
	}
	if w.c.below(2) == 0 {
		return
	}
	w.limbo = append(w.limbo, limbo{process: a.process, come: func() bool {
		if len(op.moments) > 0 && op.moments[0]() {
			op.moments = op.moments[1:]
		}
		return len(op.moments) == 0
	}})
}

// end frees what a process has and ends what it was doing.
func (w *world) end(process int32) {
	if w.loose {
		w.loosen(process)
		return
	}
	for s, p := range w.holder {
		if p == process {
			w.holder[s] = 0
		}
	}
	w.limbo = slices.DeleteFunc(w.limbo, func(l limbo) bool { return l.process == process })
	for _, a := range w.all {
		if a.process != process {
			continue
		}
		a.gone = true
		if a.op != nil && len(a.op.moments) > 0 {
			a.op.moments = nil
			a.op.answer = history.Event{Type: history.Info, Reason: lock.Disconnected}
			if a.op.inv.F.Op() == lock.Verify {
				a.op.answer = history.Event{Type: history.OK, Reason: lock.Disconnected, Slot: a.op.inv.Slot}
			}
			a.slot = 0
		}
	}
}

// loosen is the end of a connection that frees what its client has: at once, later, or never. What the client
// was doing goes on on another one.
func (w *world) loosen(process int32) {
	for s, p := range w.holder {
		if p != process {
			continue
		}
		switch w.c.below(3) {
		case 0:
			w.holder[s] = 0
		case 1:
			taken := w.taken[s]
			w.limbo = append(w.limbo, limbo{process: process, come: func() bool {
				if w.holder[s] == process && w.taken[s] == taken {
					w.holder[s] = 0
				}
				return true
			}})
		}
	}
	for _, a := range w.all {
		a.gone = a.gone || a.process == process
	}
}

func (w *world) world(f history.F, process int32) {
	if w.blind && f != history.Crash {
		return
	}
	w.emit(history.Event{Type: history.Info, Process: history.Nemesis, F: f, Target: process})
}

// invoke has a client call something.
func (w *world) invoke(a *actor) {
	switch {
	case a.admin:
		w.administer(a)
	case a.slot > 0 && a.gone && !w.loose:
		w.stale(a)
	case a.slot == 0 || w.c.below(8) == 0:
		w.acquire(a)
	case w.c.below(3) == 0 && !w.unnamed:
		w.verify(a)
	default:
		w.release(a)
	}
}

// stale has a client whose connection is gone ask for its slot, or give it back.
func (w *world) stale(a *actor) {
	s := a.slot
	if w.c.below(2) == 0 {
		op := w.begin(a, lock.Verify, w.named(s), 0)
		op.answer.Reason = lock.Disconnected
	} else {
		op := w.begin(a, lock.Release, w.named(s), 0)
		op.answer.Type = []history.EventType{history.Info, history.OK}[w.c.below(2)]
		if w.blind {
			op.answer = history.Event{Type: history.Info, Reason: lock.Disconnected}
		}
	}
	a.slot = 0
}

// reclaim has a client ask for its slot, and claim it anew where it was lost.
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
	if w.unnamed {
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
		if w.atomic || w.unnamed {
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
	switch w.c.below(12) {
	case 0:
		op.answer = history.Event{Type: history.Fail, Reason: []lock.Reason{lock.GaveUp, lock.Disconnected, lock.NoReason}[w.c.below(3)]}
	case 1:
		w.withdraw(op, process)
	default:
		op.moments = []func() bool{look}
	}
}

// withdraw claims a slot without looking whether it exists, and gives it back if it does not.
func (w *world) withdraw(op *doing, process int32) {
	s := 1 + w.c.below(mostSlots-1)
	op.answer = history.Event{Type: history.Fail, Reason: lock.NoReason}
	if w.unnamed || w.kind != lock.Semaphore {
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
	if w.loose {
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
	if w.c.below(16) == 0 {
		op.moments = nil // no reason given
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
	if w.c.below(16) == 0 {
		op.moments, op.answer = nil, history.Event{Type: history.Fail, Reason: lock.Busy}
		a.slot = s
	}
}

func (w *world) administer(a *actor) {
	if w.alone {
		for _, o := range w.all {
			if o.op != nil && o.op.inv.F.Op().Administrative() {
				return
			}
		}
	}
	kinds := []lock.Op{lock.Add, lock.Remove, lock.Remove, lock.Create, lock.Destroy, lock.Count, lock.Wait}
	if w.kind == lock.PersistentMutex {
		kinds = []lock.Op{lock.Create, lock.Destroy, lock.Count, lock.Wait}
	}
	f := kinds[w.c.below(len(kinds))]
	x := 1 + w.c.below(2)
	switch f {
	case lock.Add:
		if w.n+x > mostSlots {
			return
		}
		w.repeat(w.begin(a, f, 0, x), x, func() { w.n++ })
	case lock.Remove:
		w.repeat(w.begin(a, f, 0, x), x, func() { w.n = max(0, w.n-1) })
	case lock.Create:
		if w.kind == lock.PersistentMutex {
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
		s := 1 + w.c.below(3)
		if w.kind != lock.Semaphore {
			s = 1
		}
		op := w.begin(a, f, s, 0)
		op.moments = []func() bool{func() bool { return w.holder[s] == 0 }}
	}
	if w.c.below(12) == 0 {
		a.op.moments, a.op.answer = nil, history.Event{Type: history.Fail, Reason: lock.Busy}
	}
}

func (w *world) repeat(op *doing, n int, effect func()) {
	for range n {
		op.moments = append(op.moments, func() bool { effect(); return true })
	}
}

// corrupt changes a history a little, or reports that it did not; it may stay legal, or become
// malformed.
func corrupt(c chooser, h *history.History) bool {
	if len(h.Events) < 4 {
		return false
	}
	i := c.below(len(h.Events))
	e := &h.Events[i]
	switch change := c.below(10); {
	case change == 0 && e.Type == history.OK && e.Slot != history.AnySlot:
		e.Slot = uint16(1 + c.below(3))
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

// lie gives an operation another answer.
func lie(c chooser, e *history.Event) {
	switch op := e.F.Op(); {
	case op == lock.Acquire && e.Type == history.OK:
		e.Type, e.Held, e.Slot, e.Reason = history.Fail, false, 0, lock.Full
	case op == lock.Acquire:
		e.Type, e.Held, e.Slot, e.Reason = history.OK, true, uint16(1+c.below(3)), lock.NoReason
	case op == lock.Verify && e.Held:
		e.Held, e.Reason = false, lock.Removed
	case op == lock.Verify:
		e.Held, e.Reason = true, lock.NoReason
	case op == lock.Count:
		e.Slots = uint16(c.below(4))
	default:
		e.Type = []history.EventType{history.OK, history.Fail}[c.below(2)]
	}
}

// tell is a history as a table of lines.
func tell(h *history.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v slots %v\n", h.Kind, h.Locks, h.Slots)
	for i, e := range h.Events {
		fmt.Fprintf(&b, "%3d  c%-3d %-6s %-8s slot %d slots %d held %v reason %q target %d\n",
			i, e.Process, e.Type, e.F, e.Slot, e.Slots, e.Held, e.Reason, e.Target)
	}
	return b.String()
}

// shrink leaves out what can be left out of a history without ending what is wrong with it.
func shrink(h *history.History, wrong func(*history.History) bool) *history.History {
	for again := true; again; {
		again = false
		for i := len(h.Events) - 1; i >= 0; i-- {
			for _, pair := range []bool{true, false} {
				if less := without(h, i, pair); less != nil && Validate(less) == nil && wrong(less) {
					h, again = less, true
					break
				}
			}
			i = min(i, len(h.Events))
		}
	}
	return h
}

// without is a history without an event, or without an operation.
func without(h *history.History, i int, pair bool) *history.History {
	less := *h
	less.Events = slices.Clone(h.Events)
	e := h.Events[i]
	less.Events = slices.Delete(less.Events, i, i+1)
	if pair {
		if e.Type != history.Invoke {
			return nil
		}
		for j := i; j < len(less.Events); j++ {
			if less.Events[j].Process == e.Process {
				less.Events = slices.Delete(less.Events, j, j+1)
				break
			}
		}
	}
	return &less
}
