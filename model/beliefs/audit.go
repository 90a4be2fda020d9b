package beliefs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Audit judges the audit at the end of a history. From [history.Audit] on, faults and operations are over, the server
// has noticed dead clients, and only one client at a time is active. A free slot must then be granted. The free slots
// are those that the lock has after all administration, less those that a client may hold. A client may hold a slot
// if it was told yes or does not know its answer, and has neither given the slot back nor died. A client that has
// released a mutex at rest holds nothing, whatever it did not know before. Without rest, an acquire without an answer
// may take effect after the release.
//
// If a client acquires several times in a row, only its last answer counts, since a client may first have to notice
// that its connection is lost. The gravest earlier fault decides which property a violation belongs to. [Certain] finds
// grants of too many slots.
type Audit struct {
	// Before says which faults happened before the audit. Its caller may set faults that the history does not show.
	Before Before

	h        *history.History
	keeps    bool // a client whose release failed still believes that it holds the lock
	begun    bool
	locks    []audited
	calls    map[int32]*call
	earlier  map[int32]bool // processes that called an operation or met a fault before the audit
	under    int            // number of the audit's operations that are under way
	verdicts map[property.Property]*linear.Verdict
}

// Before says which kinds of faults have happened before an audit.
type Before struct {
	Restarted, Crashed, Disconnected, Lapsed bool

	// Rest is the index of the event from which on all is at rest, if that is so before the audit; otherwise 0.
	Rest int
}

// audited is what the history says of one lock so far.
type audited struct {
	slots                  Slots
	may                    map[int32]int // by process: number of slots that the process may hold, by its last answer
	unsure                 map[int32]int // by process: slots that it may hold besides, by an acquire of unknown outcome
	released, administered bool
	refused                *refusal // the audit's last answer on this lock, if it was a wrong refusal; otherwise nil
	over                   bool     // a violation on this lock was found, which may be the only cause of further ones
}

// call is an operation under way.
type call struct {
	slots int
	takes int  // number of permits that an acquire takes: 1 unless its caller states more
	free  int  // number of free slots when the operation was called
	late  bool // the operation was called in the audit
	rest  bool // the operation was called when all was at rest
	alone bool // the operation was called in the audit and overlaps no other
}

// refusal is an acquire in the audit that failed although a slot was free.
type refusal struct {
	process     int32
	event, free int
}

// NewAudit makes an Audit, to which the events of history h are then given one by one.
func NewAudit(h *history.History, o linear.Options) *Audit {
	a := &Audit{
		h: h, keeps: o.FailedRelease == linear.KeepsBelief, locks: make([]audited, len(h.Slots)),
		calls: make(map[int32]*call), earlier: make(map[int32]bool), verdicts: make(map[property.Property]*linear.Verdict),
	}
	for l, n := range h.Slots {
		switch {
		case h.Kind == lock.Mutex:
			n = 1
		case o.Permits > 0:
			n = o.Permits
		}
		a.locks[l] = audited{slots: NewSlots(n), may: make(map[int32]int), unsure: make(map[int32]int)}
	}
	return a
}

// Begun reports whether the audit has begun.
func (a *Audit) Begun() bool { return a.begun }

// Event handles the i-th event of the history, counted from 0.
func (a *Audit) Event(i int, e *history.Event) {
	switch {
	case e.Process == history.Nemesis:
		a.world(e)
	case e.Type == history.Invoke:
		a.invoked(i, e)
	default:
		a.completed(i, e)
	}
}

// world handles an event of the environment, such as a crash.
func (a *Audit) world(e *history.Event) {
	switch {
	case e.F == history.Audit:
		a.begun = true
	case e.F == history.Restart && !a.h.GoneMayFree:
		for l := range a.locks {
			clear(a.locks[l].may)
			clear(a.locks[l].unsure)
		}
	case e.F == history.Crash, e.F == history.Lapse, e.F == history.Lost, e.F == history.Gone && !a.h.GoneMayFree:
		for l := range a.locks {
			delete(a.locks[l].may, e.Target)
			delete(a.locks[l].unsure, e.Target)
		}
		if e.F == history.Crash {
			a.ended(e.Target)
		}
	}
	if !a.begun {
		a.earlier[e.Target] = true
		b := &a.Before
		b.Restarted = b.Restarted || e.F == history.Restart
		b.Crashed = b.Crashed || e.F == history.Crash
		b.Disconnected = b.Disconnected || e.F == history.Gone
		b.Lapsed = b.Lapsed || e.F == history.Lapse
	}
}

// ended removes and returns the operation that a process has under way; nil if it has none.
func (a *Audit) ended(process int32) *call {
	c := a.calls[process]
	if c != nil && c.late {
		a.under--
	}
	delete(a.calls, process)
	return c
}

func (a *Audit) invoked(i int, e *history.Event) {
	l, op := &a.locks[e.Lock], e.F.Op()
	c := &call{slots: int(e.Slots), takes: max(1, int(e.Permits)), late: a.begun, rest: a.begun || a.Before.Rest > 0 && i >= a.Before.Rest}
	a.calls[e.Process] = c
	l.slots.Begin(op, c.slots)
	l.released = l.released || op == lock.Release
	l.administered = l.administered || op.Administrative()
	if !a.begun {
		a.earlier[e.Process] = true
		return
	}
	if r := l.refused; r != nil && (op != lock.Acquire || e.Process != r.process) {
		a.fails(e.Lock)
	}
	a.under++
	c.alone = a.under == 1
	for _, o := range a.calls {
		o.alone = o.alone && c.alone
	}
	c.free = l.slots.Least
	if op == lock.Acquire && c.slots > 0 { // the caller has stated a limit
		c.free = min(c.free, c.slots)
	}
	if a.h.Kind != lock.Semaphore {
		c.free = min(1, c.free)
	}
	c.free -= l.heldByOthers(e.Process)
}

// heldByOthers is the number of slots that processes other than the given one may hold.
func (l *audited) heldByOthers(process int32) (n int) {
	for _, who := range []map[int32]int{l.may, l.unsure} {
		for other, slots := range who {
			if other != process {
				n += slots
			}
		}
	}
	return n
}

func (a *Audit) completed(i int, e *history.Event) {
	l, op := &a.locks[e.Lock], e.F.Op()
	c := a.ended(e.Process)
	if c == nil {
		return
	}
	l.slots.End(op, c.slots, e.Type)
	switch {
	case op == lock.Acquire && !l.over && c.alone && c.free >= c.takes:
		a.granted(i, e, c.free)
	case op == lock.Count && c.alone && e.Type == history.OK && l.slots.Least == l.slots.Most:
		a.judge(property.ExactCount, int(e.Slots) == l.slots.Least, i, e.Lock, fmt.Sprintf("at rest, %s counts %d slots (%s), and %d were administered",
			a.h.Who(e.Process), e.Slots, a.h.Moment(i), l.slots.Least))
	}
	l.answered(e, c.takes, a.keeps, a.h.GoneMayFree)
	if op == lock.Release && e.Type == history.OK && c.rest && a.h.Kind != lock.Semaphore { // it had one slot at most
		delete(l.unsure, e.Process)
	}
}

// answered updates which slots a client may hold, after the answer to a call that takes the given number of slots.
// keeps says that a client whose release failed still believes that it holds the lock. mayFree says that a failed
// verify ends the client's hold.
func (l *audited) answered(e *history.Event, takes int, keeps, mayFree bool) {
	op, held, known := e.F.Op(), e.Type == history.OK && e.Held, e.Type != history.Info
	switch {
	case op == lock.Acquire && !known:
		l.unsure[e.Process] = takes
	case (op == lock.Acquire || op.AsksHeld()) && held:
		l.may[e.Process] = takes
	case op == lock.Release && (e.Type == history.OK || known && !keeps),
		op.AsksHeld() && (e.Type == history.OK || known && mayFree):
		delete(l.may, e.Process)
	}
}

// granted judges the answer to an acquire that had to succeed, since there were free slots. The argument free is their
// number.
func (a *Audit) granted(i int, e *history.Event, free int) {
	l := &a.locks[e.Lock]
	if !e.Held {
		l.refused = &refusal{process: e.Process, event: i, free: free}
		return
	}
	l.refused = nil
	for p := range a.clauses(e.Lock, e.Process).All() {
		a.judge(p, true, i, e.Lock, "")
	}
}

// fails records a violation on lock number at: an acquire failed although a slot was free, and the same client did not
// acquire it in a further attempt.
func (a *Audit) fails(at uint16) {
	l := &a.locks[at]
	r := l.refused
	l.refused, l.over = nil, true
	what, who := "the lock, which is free", "who survived"
	if a.h.Kind == lock.Semaphore {
		what = fmt.Sprintf("a slot, though %d of %d are free", r.free, l.slots.Least)
	}
	p, after := property.Progress, ""
	if !a.earlier[r.process] {
		who = "a fresh client"
		p, after = a.cause(l)
	}
	a.judge(p, false, r.event, at, fmt.Sprintf("at rest%s, %s, %s, is refused %s (%s)", after, a.h.Who(r.process), who, what, a.h.Moment(r.event)))
}

// cause is the property that is violated if an acquire by a new client fails although a slot is free. The text names
// the fault that came before.
func (a *Audit) cause(l *audited) (property.Property, string) {
	switch b := a.Before; {
	case b.Restarted:
		return property.SurvivesRestart, " after a restart"
	case b.Crashed:
		return property.CrashFrees, " after a crash"
	case b.Disconnected:
		return property.NoLeak, " after a lost connection, channel or reply"
	case b.Lapsed:
		return property.Progress, " after an expiry"
	case l.administered && a.h.Kind == lock.Semaphore:
		return property.ContiguousSlots, " after a change of its slots"
	case l.released:
		return property.EffectiveRelease, " after a release"
	}
	return property.Progress, ", though nobody has held it"
}

// clauses are the properties that are checked when the process acquires a free slot of lock number at in the audit.
func (a *Audit) clauses(at uint16, process int32) property.Set {
	all, b, l := property.Set(0).With(property.Progress), a.Before, &a.locks[at]
	if a.earlier[process] {
		return all
	}
	for p, so := range map[property.Property]bool{
		property.SurvivesRestart: b.Restarted, property.CrashFrees: b.Crashed, property.NoLeak: b.Disconnected,
		property.ContiguousSlots: l.administered && a.h.Kind == lock.Semaphore, property.EffectiveRelease: l.released,
	} {
		if so {
			all = all.With(p)
		}
	}
	return all
}

// judge counts a check of property p, and records the first violation: its event, lock and reason.
func (a *Audit) judge(p property.Property, ok bool, event int, at uint16, why string) {
	v := a.verdicts[p]
	if v == nil {
		v = &linear.Verdict{Property: p, Decision: linear.Legal, Event: -1}
		a.verdicts[p] = v
	}
	v.Checked++
	if !ok && v.Decision == linear.Legal {
		v.Decision, v.Event, v.Why, v.Lock = linear.Illegal, event, why, int(at)
	}
}

// Verdicts are the verdicts on all properties that the audit has checked. It is called after the last event.
func (a *Audit) Verdicts() (all []linear.Verdict) {
	for l := range a.locks {
		if a.locks[l].refused != nil {
			a.fails(uint16(l))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(a.verdicts)) {
		all = append(all, *a.verdicts[p])
	}
	return all
}
