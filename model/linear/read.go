package linear

import (
	"errors"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Source reads a history: it calls event with each event. Each call of a Source begins again with the first event.
type Source func(event func(e *history.Event) error) error

// atHand is the number of events of a long history that are in memory at once, summed over all locks.
const atHand = 1 << 20

// CheckRead decides like [Check], for a history of any length. h is the history without its events, and read supplies
// them. Memory grows with the number of processes, not with the number of operations. The error is a [*Malformed], or
// comes from read. About a million events are in memory, divided among the locks. In a longer history, each operation
// must be answered within half as many events. Otherwise the history is undecided, and the finding says so.
func CheckRead(h *history.History, read Source, o Options) (Finding, error) {
	return checkRead(h, read, o, max(atHand/max(1, len(h.Locks)), 1<<12))
}

func checkRead(h *history.History, read Source, o Options, window int) (Finding, error) {
	if err := checkShape(h); err != nil {
		return Finding{}, err
	}
	checks := checksOf(h, o, window)
	n := 0
	err := read(func(e *history.Event) error {
		if n >= endless {
			return tooLong(n)
		}
		for _, c := range checks {
			if err := c.event(e); err != nil {
				return err
			}
		}
		n++
		return nil
	})
	for err == nil && again(checks) {
		err = read(func(e *history.Event) error {
			for _, c := range checks {
				if !c.done {
					if err := c.event(e); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if errors.Is(err, history.ErrOnce) {
			err = nil
			once(checks)
		}
	}
	if err != nil {
		return Finding{}, err
	}
	sum := legal
	for l := range h.Locks {
		sum = sum.and(checks[l].found)
	}
	return sum, nil
}

// once handles a history that cannot be read again. Checks that need another pass are undecided.
func once(checks []*check) {
	for _, c := range checks {
		if !c.done {
			c.done, c.found = true, onePass.of(c.lock)
		}
	}
}

// onePass is the finding if a history can be read only once and the check needs another pass.
var onePass = Finding{Event: -1, How: byFastCheck, Why: "it takes another pass over the history, and " + history.ErrOnce.Error()}

// again ends a pass over the history, and reports whether another pass is needed.
func again(checks []*check) (again bool) {
	for _, c := range checks {
		if !c.done {
			c.end()
			again = again || !c.done
		}
	}
	return again
}

// check is the check of one lock of a history that is being read. With noLock, it only checks that the history is
// well-formed.
type check struct {
	Checker
	h      *history.History
	lock   int
	o      Options
	window int

	known  facts
	effort int // index in readEfforts of the current effort
	n      int32

	done  bool // found is the final finding
	found Finding
	over  bool // this pass has found its decision, or cannot decide
}

func checksOf(h *history.History, o Options, window int) (all []*check) {
	for l := range h.Locks {
		all = append(all, newCheck(h, l, o, window))
	}
	if len(all) == 0 {
		all = append(all, newCheck(h, noLock, o, window))
	}
	return all
}

func newCheck(h *history.History, lock int, o Options, window int) *check {
	c := &check{h: h, lock: lock, o: o, window: window}
	c.normaliser.begin(h, lock, o)
	return c
}

// event handles the next event of the history.
func (c *check) event(e *history.Event) error {
	if err := c.normaliser.event(c.n, e); err != nil {
		return err
	}
	c.n++
	if len(c.normaliser.at) >= c.window {
		if c.normaliser.roll == nil {
			c.begin()
		}
		to := c.n - int32(c.window/2)
		c.judge(to)
		c.normaliser.forget(to, c.refer)
	}
	return nil
}

// begin is called when the window of events is full for the first time in a pass. It resets the fast checks, and makes
// the normaliser drop old events from now on.
func (c *check) begin() {
	r := &c.normaliser
	r.rollOn(c.known, c.window/2)
	r.slots = max(r.slots, r.admin.most)
	c.frontier.reset(r, c.o.FailedAcquire, readEfforts[c.effort])
	c.permits.reset(r, c.o.FailedAcquire)
	c.over = c.lock == noLock || c.o.Releases == ByAnyone
	if c.o.Releases == ByAnyone {
		c.found = anyone
	}
}

// refer calls keep for each call that the fast checks still need.
func (c *check) refer(keep func(k int32)) {
	c.frontier.refer(keep)
	for _, k := range c.permits.held {
		keep(k)
	}
}

// judge runs the fast check on the events before an event.
func (c *check) judge(before int32) {
	r := &c.normaliser
	r.disturb()
	r.foresee()
	c.known = c.known.or(r.facts()).or(r.roll.known)
	c.over = c.over || c.known != r.roll.known || r.unproven
	for i := r.roll.judged; i < before && !c.over; i++ {
		k := r.at[i-r.roll.from]
		r.roll.judged = i
		if k >= 0 && r.call(k).inv == i {
			k = c.invoked(k)
		}
		if !c.over {
			c.found, c.over = c.fast(i, k)
		}
		r.roll.judged = i + 1
	}
	if !c.over {
		c.found = legal
	}
}

// invoked prepares a call before its invocation is judged. It returns the call's number, or none if the call has no
// effect.
func (c *check) invoked(k int32) int32 {
	r := &c.normaliser
	op := r.call(k)
	if cl := &r.clients.list[op.client]; cl.call == k {
		r.presume(cl)
	}
	if !r.settle(op) {
		return none
	}
	switch {
	case c.unnumbered():
		return k
	case r.slots > maxFrontierSlots:
		c.found, c.over = tooManySlots, true
		return k
	case r.roll.single && op.slot > 1 && r.roll.late == "":
		r.roll.late = "some operations name slots and others do not"
	}
	c.frontier.makeRoom(r.slots)
	if op.disturbs() {
		c.frontier.disturbed(op)
	}
	for _, g := range r.roll.opened {
		c.frontier.floatingReleases = append(c.frontier.floatingReleases, r.numberOf(g))
	}
	r.roll.opened = r.roll.opened[:0]
	return k
}

// unnumbered reports whether acquires name no slots, so that slots are permits without numbers.
func (c *check) unnumbered() bool {
	l := c.normaliser.roll
	return l.known.unnamed && !l.single
}

// fast runs the fast check on the next event.
func (c *check) fast(i, k int32) (Finding, bool) {
	if c.unnumbered() {
		return c.permits.event(i, k)
	}
	return c.frontier.event(i, k)
}

// end ends a pass over the history. The check is done, unless an assumption about the history was wrong or a greater
// effort is needed.
func (c *check) end() {
	r := &c.normaliser
	if r.roll == nil {
		c.done = true
		r.over()
		if c.lock != noLock {
			c.found = c.decide(c.lock, c.o)
		}
		return
	}
	for i := range r.clients.list {
		if cl := &r.clients.list[i]; !cl.silent {
			r.unanswered(cl, lock.NoReason)
		}
	}
	c.judge(c.n)
	effort := c.effort
	switch {
	case c.known != r.roll.known:
	case c.undecidable():
		c.done = true
	case c.found == tooMany && effort+1 < len(readEfforts):
		effort++
	default:
		c.done = true
	}
	if !c.done {
		*c = check{Checker: c.Checker, h: c.h, lock: c.lock, o: c.o, window: c.window, known: c.known, effort: effort}
		c.normaliser.begin(c.h, c.lock, c.o)
		return
	}
	if c.found.Decision == Undecided && c.found != inconsistent {
		c.found = tooLarge(c.found)
	}
	c.found = c.found.of(c.lock)
}

// undecidable reports whether the history cannot be decided while it is read. It sets the finding with the reason.
func (c *check) undecidable() bool {
	r := &c.normaliser
	switch {
	case r.unnamed && !r.roll.single && (r.named || r.moved):
		c.found = inconsistent
	case c.o.Releases == ByAnyone:
	case r.unproven:
		c.found = unproved
	case r.roll.late != "":
		c.found = Finding{Event: -1, How: byFastCheck, Why: r.roll.late}
	default:
		return false
	}
	return true
}
