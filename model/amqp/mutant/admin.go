package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var administering = []*lock.Target{
	{
		Name: "no-admin-mutex", Breaks: "admin-exclusion",
		Doc: "administrators do not take the administration mutex",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.AdminMutex = false }),
	},
	{
		Name: "admin-mutex-shared", Breaks: "admin-exclusion",
		Doc: "the administration mutex is not declared exclusive: two may declare it at once",
		Design: with(bug{write: func(p *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if m.Phase == amqplock.MutexClaiming {
				c.Flags &^= amqp.Exclusive
			}
		}}),
	},
	{
		Name: "admin-goes-on", Breaks: "admin-exclusion",
		Doc: "an administrator who can't get the administration mutex goes on without it",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Result.Reason == lock.Busy {
				enter(m, amqplock.Measuring)
			}
		}}),
	},
	{
		Name: "admin-mutex-kept", Breaks: "no-leak",
		Doc: "the administration mutex is not given back when an operation ends in an error",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Mutex && m.Repairs > 0 {
				m.Mutex = false
				end(m, lock.Result{Outcome: lock.Unknown, Reason: lock.Disconnected})
			}
		}}),
	},
	{
		Name: "admin-mutex-early", Breaks: "admin-exclusion",
		Doc: "the administration mutex is given back before the last delete-ok",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			switch {
			case m.Phase == amqplock.Shrinking && m.Slot == m.Last && m.Mutex:
				enter(m, amqplock.MutexReleasing)
			case m.Idle() && m.Result.Outcome == lock.Pending: // the mutex is returned, but the operation has not ended
				enter(m, amqplock.Shrinking)
			}
		}}),
	},
	{
		Name: "add-last-only", Breaks: "contiguous-slots",
		Doc: "add declares A[C+X] only, as the guidelines read",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.AddReading = amqplock.Literal }),
	},
	{
		Name: "remove-one-more", Breaks: "contiguous-slots",
		Doc: "remove deletes from C down to C-X, as the guidelines read: one slot too many",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.RemoveReading = amqplock.Literal }),
	},
	{
		Name: "ascending-removal", Breaks: "contiguous-slots",
		Doc: "remove deletes upward and nobody overshoots: what dies half-way leaves a hole",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Order, o.Overshoot = amqplock.Ascending, 0 }),
	},
	{
		Name: "count-free-only", Breaks: "exact-count",
		Doc: "count stops at the first slot that somebody holds",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Pipeline = 0 }),
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			switch {
			case m.Op != lock.Count || m.Answered > 0:
			case m.Phase == amqplock.Measuring && m.Slot > 1: // slot m.Slot-1 exists: probe for its holder
				m.Slot--
				enter(m, amqplock.ScanningB)
			case m.Phase == amqplock.Claiming: // the probe found no holder
				m.Slot++
				enter(m, amqplock.Measuring)
			case m.Phase == amqplock.ScanningA: // the probe found a holder
				end(m, lock.Result{Outcome: lock.Done, Slots: m.Slot - 2})
			}
		}}),
	},
	{
		Name: "count-off-by-one", Breaks: "exact-count",
		Doc: "count returns the number of the first queue that is missing",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Count && m.Result.Outcome == lock.Done {
				m.Result.Slots++
			}
		}}),
	},
	{
		Name: "wait-for-slot", Breaks: "linearizable",
		Doc: "wait looks at the A queue: the holder of a removed slot seems to be gone while it is not",
		Design: with(bug{write: func(p *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if probes(m, amqplock.Polling, c) {
				c.Queue = p.Layout.A[m.Arg]
			}
		}}),
	},
	{
		Name: "wait-tires", Breaks: "linearizable",
		Doc: "wait returns after its last look as if the holder were gone",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Wait && m.Result.Reason == lock.GaveUp {
				end(m, lock.Result{Outcome: lock.Done, Slot: m.Arg})
			}
		}}),
	},
	{
		Name: "wait-forever", Breaks: "progress",
		Doc: "wait looks until the holder is gone, be it never",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Wait && m.Result.Reason == lock.GaveUp {
				m.Tries = 0
				enter(m, amqplock.Polling)
			}
		}}),
	},
}
