package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

var acquiring = []*lock.Target{
	{
		Name: "no-second-probe", Breaks: "removal-drains",
		Doc: "acquire returns the slot it claimed without looking whether the slot is still there",
		Fix: func(o *lock.Options) { o.VerifyFirst = false },
	},
	{
		Name: "locked-is-success", Breaks: "mutual-exclusion",
		Doc: "acquire takes RESOURCE_LOCKED for success: the queue is there, after all",
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Then == lock.Claiming && m.Decided {
				m.Seen = ^uint32(0)
			}
		}}),
	},
	{
		Name: "probe-is-claim", Breaks: "mutual-exclusion",
		Doc: "acquire returns the first slot that nobody holds, without claiming it",
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Phase == lock.Claiming {
				granted(m)
			}
		}}),
	},
	{
		Name: "no-route-is-existence", Breaks: "no-phantom-slot",
		Doc: "NO_ROUTE is read as \"exists\" for A queues: acquire claims slots that nobody made",
		Fix: func(o *lock.Options) { o.Confirm = lock.Confirms },
		Variant: with(bug{read: func(p *lock.Protocol, m *lock.Machine, r *amqp.Reply) {
			if isSlot(p, p.Next(m).Queue) {
				r.Returned = 0
			}
		}}),
	},
	{
		Name: "claim-unseen", Breaks: "cheap-acquire",
		Doc: "acquire claims every slot in turn without looking first whether somebody holds it",
		Fix: func(o *lock.Options) { o.Pipeline = 0 },
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Phase == lock.ScanningB {
				enter(m, lock.Claiming)
			}
		}}),
	},
	{
		Name: "scan-from-two", Breaks: "progress",
		Doc: "acquire counts slots from 0 and queues from 1: it never looks at the first slot",
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Phase == lock.Scanning && m.Slot == 1 || m.Phase == lock.ScanningA && m.Slot == 1 {
				m.Slot = 2
			}
		}}),
	},
	{
		Name: "first-slot-only", Breaks: "linearizable",
		Doc: "acquire says that all slots are taken once the first one is",
		Fix: func(o *lock.Options) { o.Pipeline = 0 },
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Phase == lock.ScanningA && m.Slot > 1 {
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
			}
		}}),
	},
	{
		Name: "retries-forever", Breaks: "progress",
		Doc: "acquire tries again after RESOURCE_LOCKED as often as it takes",
		Variant: with(bug{turn: func(p *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Acquire && m.Result.Reason == lock.GaveUp {
				p.Start(m, lock.Acquire, 0)
			}
		}}),
	},
	{
		Name: "reconnects", Breaks: "cheap-acquire",
		Doc: "acquire opens a connection of its own every time",
		Variant: with(bug{start: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Acquire && m.Link == lock.Up {
				redial(m, m.Phase)
			}
		}}),
	},
	{
		Name: "channel-each", Breaks: "cheap-acquire",
		Doc: "acquire opens a channel of its own every time",
		Variant: with(bug{start: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Acquire && m.Link == lock.Up {
				m.Then, m.Link, m.Phase = m.Phase, lock.ChannelDown, lock.Opening
				m.Channel++
			}
		}}),
	},
	{
		Name: "leaks-on-withdrawal", Breaks: "no-leak",
		Doc: "acquire reports that the slot went away, and keeps the B queue with which it had claimed it",
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Phase == lock.Withdrawing {
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Withdrawn, Slot: m.Slot})
			}
		}}),
	},
	{
		Name: "timeout-is-refusal", Breaks: "no-leak",
		Doc: "acquire takes a claim that was not answered in time for one that was refused, and goes on",
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Acquire && m.Result.Reason == lock.TimedOut {
				m.Link = lock.Up
				m.Result = lock.Result{Outcome: lock.Failed, Reason: lock.Full}
			}
		}}),
	},
	{
		Name: "mutex-probe-is-claim", Kind: lock.Mutex, Breaks: "mutual-exclusion",
		Doc: "the true mutex is taken by seeing that nobody has it",
		Variant: with(bug{turn: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Phase == lock.Claiming {
				granted(m)
			}
		}}),
	},
	{
		Name: "persistent-mutex-unseen", Kind: lock.PersistentMutex, Breaks: "no-phantom-slot",
		Doc: "the persistent mutex takes the cheaper path too far: it never looks whether the slot is there",
		Fix: func(o *lock.Options) { o.VerifyFirst = false },
		Variant: with(bug{start: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Acquire && m.Link == lock.Up {
				enter(m, lock.Claiming)
			}
		}}),
	},
}

// isSlot reports whether a queue is one of the lock's A queues.
func isSlot(p *lock.Protocol, q amqp.Queue) bool { return slices.Contains(p.Layout.A, q) }
