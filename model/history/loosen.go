package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// MostTime is the largest time, and MostClockError the largest clock error, that [Loosen] accepts, in nanoseconds. With
// larger values, sums of times would overflow.
const (
	MostTime       = 3 << 60 // since 1970: in the year 2079
	MostClockError = 1 << 58 // about nine years
)

// Loosen changes a history whose events have the times of several machines' clocks. Two clocks differ by at most bound.
// An operation therefore certainly came before another only if it ended more than bound before the other began. To
// express this, each operation of the result begins half of bound earlier and ends half of bound later.
//
// In the result, each acquire is a process of its own, together with the operations that may end its hold, since a
// client's operations may now overlap. Only acquires, verifies, refreshes, releases and waits are in the result. Holds
// that may be no longer than bound are left out, and so are reasons and answers that say nothing about a hold. If h is
// linearizable, so is the result. all is the number of holds, and short the number of those left out.
func Loosen(h *History, bound int64) (loose *History, short, all int) {
	l := &loosening{h: h, bound: bound, uses: make(map[use]*uses), losses: make(map[int32][]int64)}
	for i := range h.Events {
		l.event(i, &h.Events[i])
	}
	for _, u := range l.order {
		if u.calling != nil {
			l.unanswered(u, u.calling.call, lock.NoReason)
		}
	}
	loose = &History{Kind: h.Kind, Locks: h.Locks, Slots: h.Slots}
	var steps []step
	for _, u := range l.order {
		for _, hold := range u.holds {
			all++
			if !l.cut(u, hold) {
				short++
			} else if part, ok := l.steps(hold, int32(len(loose.Called))); ok {
				steps = append(steps, part...)
				loose.Called = append(loose.Called, h.Who(u.process))
			} else {
				short++
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class)) })
	for _, s := range steps {
		loose.Events = append(loose.Events, s.event)
		loose.Places = append(loose.Places, h.Moment(s.from))
	}
	return loose, short, all
}

// use identifies one process's use of one lock.
type use struct {
	process int32
	lock    uint16
}

type uses struct {
	use
	began   int64 // time of the first invocation by this process
	calling *calling
	holds   []*hold
	open    []*hold // holds that have not certainly ended
	firm    []*hold // holds in open that nothing can have ended so far
	called  []*hold // holds in open that may have been lost at any time after some operation was invoked
	told    []int64 // times of the answers to this process
	vague   bool    // some hold may have been lost
}

// calling is the invocation of an operation under way, and its index.
type calling struct {
	call Event
	from int
}

// hold is an acquire, with the operations that may have ended its hold.
type hold struct {
	parts []part
	over  bool // certainly released
}

// part is one operation of a hold: its invocation and answer.
type part struct {
	call, answer Event
	from, to     int // indexes of the two events
}

// step is an event of the history that Loosen returns.
type step struct {
	at    int64 // twice the event's time, so that half of the bound is a whole number
	class int   // order of steps with the same time: 0 is an invocation, 1 an answer
	from  int   // index of the event in the original history
	event Event
}

// mostOpen is the largest number of a client's open holds, the latest ones, among which find looks for the hold that a
// release ends.
const mostOpen = 1 << 8

type loosening struct {
	h      *History
	bound  int64
	uses   map[use]*uses
	order  []*uses
	losses map[int32][]int64 // times at which a process may have lost its holds; under the key Nemesis, those for all
}

func (l *loosening) event(i int, e *Event) {
	if e.Process == Nemesis {
		switch e.F {
		case Crash, Gone, Lapse, Lost:
			l.losses[e.Target] = append(l.losses[e.Target], e.Time)
		case Restart:
			l.losses[Nemesis] = append(l.losses[Nemesis], e.Time)
		}
		return
	}
	u := l.uses[use{e.Process, e.Lock}]
	if u == nil {
		u = &uses{use: use{e.Process, e.Lock}, began: e.Time}
		l.uses[u.use] = u
		l.order = append(l.order, u)
	}
	if e.Type == Invoke {
		u.calling = &calling{*e, i}
		return
	}
	if u.calling == nil {
		return
	}
	l.completed(u, part{u.calling.call, *e, u.calling.from, i})
	u.calling = nil
}

// completed handles the completion of an operation.
func (l *loosening) completed(u *uses, p part) {
	if p.answer.Type == Info {
		l.unanswered(u, p.call, p.answer.Reason)
		return
	}
	if p.answer.Reason.CutOff() {
		u.lost()
	} else {
		u.told = append(u.told, p.answer.Time)
	}
	switch op := p.call.F.Op(); {
	case op == lock.Acquire && p.answer.Type == OK && p.answer.Held:
		u.take(p)
	case op == lock.Release && p.answer.Type == OK:
		l.released(u, p)
	case op == lock.Release:
		if i := u.find(p.call.Slot); i >= 0 {
			p.answer.Reason = lock.NoReason
			held := u.open[i]
			held.parts = append(held.parts, p)
		}
	case op.AsksHeld() && !(p.answer.Type == OK && p.answer.Held):
		u.mayLose(p.call.Time)
	}
}

// take records a granted acquire, or one that may have been granted.
func (u *uses) take(p part) {
	held := &hold{parts: []part{p}}
	u.holds, u.open, u.firm = append(u.holds, held), append(u.open, held), append(u.firm, held)
}

// released handles a release that succeeded: it ends a hold.
func (l *loosening) released(u *uses, p part) {
	switch i := u.find(cmp.Or(p.answer.Slot, p.call.Slot)); {
	case i >= 0:
		held := u.open[i]
		held.parts, held.over = append(held.parts, p), true
		u.open = slices.Delete(u.open, i, i+1)
	case !u.vague: // a release of what the client never held
		u.holds = append(u.holds, &hold{parts: []part{p}, over: true})
	}
}

// find is the index in open of the latest hold of the slot; -1 if there is none.
func (u *uses) find(slot uint16) int {
	for i, held := range slices.Backward(u.open) {
		if len(u.open)-i > mostOpen {
			u.vague = true
			break
		}
		first := &held.parts[0]
		has := cmp.Or(first.answer.Slot, first.call.Slot)
		if slot == AnySlot || has == AnySlot || has == slot {
			return i
		}
	}
	return -1
}

// unanswered handles an operation with an unknown outcome. An acquire may have been granted, and any operation may have
// cost the client its holds.
func (l *loosening) unanswered(u *uses, call Event, why lock.Reason) {
	if why.CutOff() {
		u.lost()
	} else {
		u.mayLose(call.Time)
	}
	if call.F.Op() == lock.Acquire {
		answer := call
		answer.Type = Info
		u.take(part{call, answer, u.calling.from, u.calling.from})
	}
}

// lost records that the client may have lost its holds at any time after its last answer.
func (u *uses) lost() {
	since := int64(math.MinInt64)
	if n := len(u.told); n > 0 {
		since = u.told[n-1]
	}
	u.firm = append(u.firm, u.called...)
	u.called = nil
	u.mayLose(since)
	u.called = nil
}

// mayLose records that the client may have lost its holds at any time after since.
func (u *uses) mayLose(since int64) {
	u.vague = true
	for _, held := range u.firm {
		if !held.over {
			held.parts = append(held.parts, u.mayEnd(held, since))
			u.called = append(u.called, held)
		}
	}
	u.firm = nil
}

// mayEnd makes a release with an unknown outcome, which may end the hold at any time after since.
func (u *uses) mayEnd(held *hold, since int64) part {
	last := held.parts[len(held.parts)-1]
	call := Event{Process: u.process, Lock: u.lock, Slot: last.call.Slot, Type: Invoke, F: F(lock.Release), Time: since}
	answer := call
	answer.Type = Info
	return part{call: call, answer: answer, from: last.to, to: last.to}
}

// cut shortens a hold that a lost connection may have ended early: it adds a release with an unknown outcome, which
// begins after the client's last answer before the loss. It returns false if nothing about the hold is certain, because
// the connection may have been lost before the acquire was answered.
func (l *loosening) cut(u *uses, held *hold) bool {
	lost := l.lost(u)
	first, last := held.parts[0], held.parts[len(held.parts)-1]
	switch {
	case first.call.F.Op() != lock.Acquire: // a release without a hold: another process may have acquired the slot
		return len(l.losses) == 0
	case lost == math.MaxInt64:
		return true
	case lost <= first.answer.Time+l.bound:
		return false
	case held.over && last.call.Time+l.bound < lost:
		return true
	}
	i, _ := slices.BinarySearch(u.told, lost-l.bound)
	if i == 0 {
		return false
	}
	since := u.told[i-1]
	rest := slices.DeleteFunc(held.parts[1:], func(p part) bool { return p.call.Time >= since })
	held.parts = held.parts[:1+len(rest)]
	held.parts = append(held.parts, u.mayEnd(held, since))
	return true
}

// lost is the earliest time at which the client may have lost its connection. A restart of the server counts only if
// the client was active before it.
func (l *loosening) lost(u *uses) int64 {
	lost := int64(math.MaxInt64)
	if losses := l.losses[u.process]; len(losses) > 0 {
		lost = losses[0]
	}
	restarts := l.losses[Nemesis]
	if i, _ := slices.BinarySearch(restarts, u.began-l.bound); i < len(restarts) {
		lost = min(lost, restarts[i])
	}
	return lost
}

// steps are the events of a hold in the result, with the process number process. ok is false if the hold is too short.
func (l *loosening) steps(held *hold, process int32) (all []step, ok bool) {
	before := int64(math.MinInt64) // the next operation must begin after this time
	for _, p := range held.parts {
		if p.call.Time < -MostTime { // unknown time
			return nil, false
		}
		call, answer := p.call, p.answer
		call.Process, answer.Process = process, process
		begin, end := 2*p.call.Time-l.bound, 2*p.answer.Time+l.bound
		if begin <= before {
			return nil, false
		}
		all = append(all, step{at: begin, from: p.from, event: call})
		if p.answer.Type == OK {
			before = end
			all = append(all, step{at: end, class: 1, from: p.to, event: answer})
			continue
		}
		// If the outcome is unknown, the time of the answer means nothing.
		all = append(all, step{at: begin, from: p.to, event: answer})
		before = begin - 1
	}
	return all, true
}
