package linear

import (
	"flag"
	"math/bits"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

var unknowns = flag.Int("unknown", 6000, "how many small histories of unknown outcomes are compared with brute force")

// drawUnknown draws a small history in which the outcomes of many operations are unknown. It names no slots, and does
// not record ends of connections.
func drawUnknown(c drawn.Chooser) *history.History {
	h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{1}}
	if c.Below(3) == 0 {
		h.Kind, h.Slots[0] = lock.Semaphore, 1+c.Below(2)
	}
	d := unknownDraw{c: c, h: h, processes: []int32{1, 2, 3}[:2+c.Below(2)], next: 3, calls: make(map[int32]history.F), reuse: c.Below(2) == 0}
	for range 6 + c.Below(9) {
		d.step(c.Below(len(d.processes)))
	}
	return h
}

// unknownDraw is the state while a history is drawn.
type unknownDraw struct {
	c         drawn.Chooser
	h         *history.History
	processes []int32
	next      int32
	calls     map[int32]history.F // by process: the operation under way
	held      []int32             // processes that hold the lock or a permit, as drawn
	reuse     bool                // a client keeps its process number after an unknown outcome
}

func (d *unknownDraw) step(i int) {
	p := d.processes[i]
	f, busy := d.calls[p]
	holds := -1
	for k, by := range d.held {
		if by == p {
			holds = k
		}
	}
	e := history.Event{Time: int64(len(d.h.Events)), Process: p, F: f}
	switch {
	case !busy && d.c.Below(30) == 0:
		e.Process, e.Target, e.Type, e.F = history.Nemesis, p, history.Info, history.Crash
	case !busy:
		e.F = history.F(lock.Acquire)
		if holds >= 0 && d.c.Below(5) > 0 || d.c.Below(8) == 0 {
			e.F = history.F(lock.Release)
		}
		d.calls[p] = e.F
	default:
		delete(d.calls, p)
		d.answer(&e, holds)
		if e.Type == history.Info && !d.reuse {
			d.next++
			d.processes[i] = d.next
		}
	}
	d.h.Events = append(d.h.Events, e)
}

// answer draws the completion of an operation. Its outcome is often unknown; otherwise it is mostly that of a correct
// lock.
func (d *unknownDraw) answer(e *history.Event, holds int) {
	full := len(d.held) >= max(1, d.h.Slots[0])
	wrong := d.c.Below(12) == 0
	switch {
	case d.c.Below(3) == 0:
		e.Type = history.Info
		e.Reason = []lock.Reason{lock.NoReason, lock.NoReason, lock.TimedOut, lock.Disconnected, lock.Crashed}[d.c.Below(5)]
		if holds >= 0 && d.c.Below(2) == 0 {
			d.held = append(d.held[:holds:holds], d.held[holds+1:]...)
		} else if e.F == history.F(lock.Acquire) && !full && d.c.Below(2) == 0 {
			d.held = append(d.held, e.Process)
		}
	case e.F == history.F(lock.Release) && d.c.Below(6) == 0:
		e.Type = history.Fail
	case e.F == history.F(lock.Release):
		if e.Type = history.OK; holds >= 0 {
			d.held = append(d.held[:holds:holds], d.held[holds+1:]...)
		}
	case full != wrong:
		e.Type, e.Reason = history.Fail, []lock.Reason{lock.Full, lock.NoReason, lock.Full}[d.c.Below(3)]
	default:
		e.Type, e.Held = history.OK, true
		d.held = append(d.held, e.Process)
	}
}

// unknownBrute decides a history by enumerating everything that can happen between its events. Its rules are:
//
//   - An acquire that is ok takes a permit at a moment of the call. One of unknown outcome does so at a moment since its
//     invocation, or never, and may lose it at any later moment.
//   - An acquire that failed as full saw the permit taken at a moment of the call, if there is only one.
//   - A release that is ok returns its process's last grant, if the process still has it. Without a grant, it returns the
//     permit of the process's earlier acquire of unknown outcome, even if that was lost since. If anyone may release, it
//     returns any process's permit, but its own first. One of unknown outcome does so at a moment since its invocation, or
//     never.
//   - If the reason of an unknown outcome is a lost connection or a crash, its process may lose an unreleased grant since
//     its last answer, possibly on another connection.
type unknownBrute struct {
	h       *history.History
	anyone  bool
	permits int
	acts    []unknownAct
	seen    map[unknownScene]bool
}

type unknownAct struct {
	f        lock.Op
	process  int32
	inv, ret int // events; ret is after the last event if there is no answer
	e        history.Event
	grant    int // for a release: the last grant of its process; -1 if there is none
	released bool
	losable  int // the permit may be lost since just before this event; if never, after the last event
}

// unknownScene is a state before an event. done are the acts that have happened, held those that hold a permit, and
// lost those that have lost it.
type unknownScene struct {
	event            int
	done, held, lost uint16
}

func newUnknownBrute(h *history.History, o Options) *unknownBrute {
	b := &unknownBrute{h: h, anyone: o.Releases == ByAnyone, permits: max(1, h.Slots[0]), seen: make(map[unknownScene]bool)}
	end := len(h.Events)
	under, heard := make(map[int32]int), make(map[int32]int)
	for i, e := range h.Events {
		switch {
		case e.F == history.Crash:
			b.mayLose(e.Target, i, heard[e.Target])
		case e.Type == history.Invoke:
			under[e.Process] = len(b.acts)
			b.acts = append(b.acts, unknownAct{f: e.F.Op(), process: e.Process, inv: i, ret: end, e: history.Event{Type: history.Info}, losable: end, grant: b.granted(e.Process)})
		default:
			a := &b.acts[under[e.Process]]
			delete(under, e.Process)
			if a.e = e; e.Type != history.Info {
				a.ret, heard[e.Process] = i, i
				if a.f == lock.Release && e.Type == history.OK && a.grant >= 0 {
					b.acts[a.grant].released = true
				}
				continue
			}
			b.unknown(a, i, heard[e.Process])
		}
	}
	for _, k := range under {
		b.unknown(&b.acts[k], end, heard[b.acts[k].process])
	}
	return b
}

// unknown handles an act that ends at event i with an unknown outcome. heard is the process's last answer.
func (b *unknownBrute) unknown(a *unknownAct, i, heard int) {
	if a.e.Reason == lock.Disconnected || a.e.Reason == lock.Crashed {
		b.mayLose(a.process, i, heard)
	}
	if a.f == lock.Acquire {
		a.losable = a.inv
	}
}

// granted is the last grant of a process that it has not released, or -1. Of several it is one that no release without
// an answer may have ended.
func (b *unknownBrute) granted(process int32) int {
	last := -1
	for k := len(b.acts) - 1; k >= 0; k-- {
		if g := &b.acts[k]; g.process != process || g.f != lock.Acquire || g.e.Type != history.OK || g.released {
			continue
		}
		last = max(last, k)
		if !slices.ContainsFunc(b.acts, func(a unknownAct) bool { return a.f == lock.Release && a.e.Type == history.Info && a.grant == k }) {
			return k
		}
	}
	return last
}

// mayLose allows that a process loses its grants before event i, at any moment since the event since.
func (b *unknownBrute) mayLose(process int32, i, since int) {
	for k := range b.acts {
		if a := &b.acts[k]; a.process == process && a.f == lock.Acquire && a.e.Type == history.OK && a.ret < i && !a.released {
			a.losable = min(a.losable, max(since, a.ret))
		}
	}
}

func (b *unknownBrute) legal() bool { return b.from(unknownScene{}) }

// from reports whether the remaining events can be explained from a state on.
func (b *unknownBrute) from(s unknownScene) bool {
	if b.seen[s] {
		return false
	}
	b.seen[s] = true
	if s.event == len(b.h.Events) || b.passes(s) && b.from(unknownScene{s.event + 1, s.done, s.held, s.lost}) {
		return true
	}
	for k := range b.acts {
		bit := uint16(1) << k
		a := &b.acts[k]
		if a.inv < s.event && s.event <= a.ret && s.done&bit == 0 && b.happens(s, k, a) {
			return true
		}
		if s.held&bit != 0 && a.losable <= s.event && b.from(unknownScene{s.event, s.done, s.held &^ bit, s.lost | bit}) {
			return true
		}
	}
	return false
}

// passes reports whether the next event is consistent with the state: if it is an answer, its operation has happened.
func (b *unknownBrute) passes(s unknownScene) bool {
	for k := range b.acts {
		a := &b.acts[k]
		told := a.e.Type == history.OK || a.e.Reason == lock.Full && b.permits == 1
		if a.ret == s.event && told && s.done&(1<<k) == 0 {
			return false
		}
	}
	return true
}

// happens reports whether the remaining events can be explained if act k happens now.
func (b *unknownBrute) happens(s unknownScene, k int, a *unknownAct) bool {
	bit, n := uint16(1)<<k, bits.OnesCount16(s.held)
	s.done |= bit
	switch {
	case a.f == lock.Acquire && a.e.Type == history.Fail:
		return n >= b.permits && a.e.Reason == lock.Full && b.from(s)
	case a.f == lock.Acquire:
		s.held |= bit
		return n < b.permits && b.from(s)
	case a.e.Type == history.Fail:
		return false
	}
	for _, g := range b.about(s, a) {
		if b.from(unknownScene{s.event, s.done, s.held &^ (1 << g), s.lost &^ (1 << g)}) {
			return true
		}
	}
	return a.grant >= 0 && !b.anyone && s.held&(1<<a.grant) == 0 && b.from(s)
}

// about are the acts whose permit a release may return.
func (b *unknownBrute) about(s unknownScene, a *unknownAct) (acts []int) {
	mine := func(k int) bool { return b.acts[k].process == a.process }
	held := b.of(s.held)
	switch {
	case b.anyone && slices.ContainsFunc(held, mine):
		return slices.DeleteFunc(held, func(k int) bool { return !mine(k) })
	case b.anyone:
		return held
	case a.grant >= 0:
		return slices.DeleteFunc(held, func(k int) bool { return k != a.grant })
	}
	return slices.DeleteFunc(b.of(s.held|s.lost), func(k int) bool { return !mine(k) || b.acts[k].inv > a.inv || b.acts[k].e.Type == history.OK })
}

// of are the indices of the acts in a set.
func (b *unknownBrute) of(set uint16) (acts []int) {
	for k := range b.acts {
		if set&(1<<k) != 0 {
			acts = append(acts, k)
		}
	}
	return acts
}

// TestUnknownOutcomes: histories with many unknown outcomes are decided like by brute force, for both choices of who
// may release.
func TestUnknownOutcomes(t *testing.T) {
	var c Checker
	var counts [3]int
	for i := range *unknowns {
		h := drawUnknown(drawn.BySeed(uint64(*firstSeed + i)))
		for _, o := range []Options{{}, {Releases: ByAnyone}} {
			wrong := func(h *history.History) bool {
				if Validate(h) != nil || h.Slots[0] > 1 && !slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Held }) {
					return false // without a grant, the history would be read as one with slot numbers
				}
				f := c.Linearizable(h, o)
				return f.Decision != Undecided && (f.Decision == Legal) != newUnknownBrute(h, o).legal()
			}
			if wrong(h) {
				least := shrink(h, wrong)
				t.Fatalf("seed %d, releases by others: %s: %+v, by brute force legal %v\n%s", i, o.Releases, c.Linearizable(least, o), newUnknownBrute(least, o).legal(), drawn.Tell(least))
			}
			counts[c.Linearizable(h, o).Decision]++
		}
	}
	t.Logf("of %d histories, in two readings: %d legal, %d illegal, %d undecided", *unknowns, counts[Legal], counts[Illegal], counts[Undecided])
}
