package explore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// moments says at which moments time passes while a target is explored; "" if time does not matter.
func moments(t *lock.Target) string {
	if !t.Traits.Has(lock.Leases) {
		return ""
	}
	return "a millisecond an action, and now and then up to the next end of a lease, a belief or a wait, or two milliseconds before it; other moments were not tried: passed, not proved"
}

// spaceOf describes for a report what a search has visited.
func spaceOf(b *sim.Bounds, r *search.Result) *report.Space {
	s := &report.Space{
		States: int(r.States), Transitions: int(r.Transitions), Diameter: r.Depth, Final: int(r.Final), Queue: int(r.Queue),
		Missed: r.Certainty.Missed, Certainty: r.Certainty.String(), Cut: cut(r),
		Moments: moments(b.Target), Bytes: int((r.TableBytes + r.QueueBytes + r.PartBytes + r.MoveBytes) / max(r.States, 1)),
	}
	for _, k := range []struct {
		on   bool
		name string
	}{{r.Reductions.Symmetry, "symmetry"}, {r.Reductions.Order, "partial order"}, {r.Reductions.Local, "local steps"}} {
		if k.on {
			s.Reductions = append(s.Reductions, k.name)
		}
	}
	for op, n := range r.Operations {
		if n > 0 {
			s.Operations = append(s.Operations, report.Count{Name: lock.Op(op).String(), Number: int(n)})
		}
	}
	s.Covered, s.NotCovered = covered(b, &r.Coverage)
	return s
}

// cut says why a search did not visit everything; "" if it did.
func cut(r *search.Result) string {
	left := fmt.Sprintf("%d states were seen and not gone on from, so that nothing is proved", r.Queue)
	switch r.Stop {
	case search.AtDepth:
		return fmt.Sprintf("ended at the bound of %d levels; %s", r.Depth, left)
	case search.AtMemory:
		return "ended at the bound of memory; " + left
	case search.AtViolation:
		return "ended at the first violation; " + left
	case search.Interrupted:
		return "interrupted; " + left
	}
	if r.Certainty.Storage == search.Bits {
		return "states are kept as bits of an array, where some are taken for others and not gone on from; nothing is proved"
	}
	return ""
}

// covered lists outcomes of operations and the broker's replies. yes are those that occurred in an execution. no are
// those that did not occur although they were possible.
func covered(b *sim.Bounds, c *search.Coverage) (yes, no []string) {
	note := func(name string, seen bool) {
		if seen {
			yes = append(yes, name)
		} else {
			no = append(no, name)
		}
	}
	for op := lock.Acquire; op <= lock.Refresh; op++ {
		if calls(b, op) {
			for _, e := range endings(b, op) {
				note(endingName(e, b.Target.Kind), c.Results[e])
			}
		}
	}
	for _, a := range sim.BackendOf(b.Target).Answers {
		if a.If != nil && !a.If(b.Options) {
			continue
		}
		note(a.Name, slices.ContainsFunc(slices.Collect(maps.Keys(c.Replies)), func(o search.Answer) bool {
			return a.Fits(o.Method, o.Answer, o.Result)
		}))
	}
	return yes, no
}

// calls reports whether a client or an administrator calls an operation.
func calls(b *sim.Bounds, op lock.Op) bool {
	return slices.ContainsFunc(b.Clients, func(c scenario.Client) bool {
		return slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool { return o.Op == op })
	})
}

// endings returns the possible outcomes of an operation.
func endings(b *sim.Bounds, op lock.Op) []search.Ending {
	ok := search.Ending{Op: op, Result: lock.Done}
	fail := func(why lock.Reason) search.Ending {
		return search.Ending{Op: op, Result: lock.Failed, Reason: why}
	}
	out := []search.Ending{ok}
	switch {
	case op == lock.Acquire:
		ok.Held = true
		out = []search.Ending{ok, fail(lock.Full)}
		if b.Target.Kind == lock.Semaphore {
			out = append(out, fail(lock.GaveUp))
		}
		if b.Target.Kind != lock.Mutex {
			out = append(out, fail(lock.Withdrawn))
		}
	case op == lock.Verify:
		held, removed := ok, ok
		held.Held, removed.Reason = true, lock.Removed
		out = []search.Ending{held}
		if b.Target.Kind != lock.Mutex {
			out = append(out, removed)
		}
	case op == lock.Refresh:
		ok.Held = true
		out = []search.Ending{ok}
	case op == lock.Wait:
		out = append(out, fail(lock.GaveUp))
	case op.Administrative():
		out = append(out, fail(lock.Busy))
	}
	if f := b.Faults; f.Drops+f.Restarts+f.Lost > 0 && op == lock.Verify {
		out = append(out, search.Ending{Op: op, Result: lock.Done, Reason: lock.Disconnected})
	}
	return out
}

func endingName(e search.Ending, kind lock.Kind) string {
	switch {
	case e.Held:
		return e.Op.String() + ": held"
	case e.Reason != lock.NoReason:
		return fmt.Sprintf("%s: %s", e.Op, e.Reason.Of(kind))
	}
	return e.Op.String() + ": ok"
}
