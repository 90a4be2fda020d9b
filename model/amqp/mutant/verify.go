package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var verifying = []*lock.Target{
	{
		Name: "verify-asks-nobody", Breaks: "stale-belief-ends",
		Doc: "verify asks the driver whether the connection is open, and nobody else",
		Design: with(bug{start: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.Checking {
				believe(m)
			}
		}}),
	},
	{
		Name: "verify-connection-only", Breaks: "honest-verify",
		Doc: "verify sees that the broker answers, and does not look at what",
		Design: with(bug{read: func(_ *amqplock.Protocol, m *amqplock.Machine, r *amqp.Reply) {
			if m.Phase == amqplock.Checking {
				r.Returned = 0
			}
		}}),
	},
	{
		Name: "verify-unrouted", Breaks: "honest-verify",
		Doc: "verify publishes without the mandatory flag: nothing is ever returned",
		Design: with(bug{write: func(_ *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if probes(m, amqplock.Checking, c) {
				c.Flags &^= amqp.Mandatory
			}
		}}),
	},
	{
		Name: "verify-holder-only", Breaks: "honest-verify",
		Doc: "verify looks whether its B queue is there, not whether the slot is",
		Design: with(bug{write: func(p *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if probes(m, amqplock.Checking, c) {
				c.Queue = p.Layout.B[m.Slot]
			}
		}}),
	},
	{
		Name: "verify-next-slot", Breaks: "linearizable",
		Doc: "verify looks at the slot after its own, and gives its own up if that is not there",
		Design: with(bug{write: func(p *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if probes(m, amqplock.Checking, c) {
				c.Queue = p.Layout.A[m.Slot+1]
			}
		}}),
	},
	{
		Name: "verify-reconnects", Breaks: "stale-belief-ends",
		Doc:    "verify runs on a driver that connects again by itself, and finds the slot there",
		Design: with(verifyReconnects),
	},
	{
		Name: "verify-keeps-holder", Breaks: "no-leak",
		Doc: "verify says that a removed slot is not held any more, and keeps its B queue",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.Relinquishing {
				end(m, lock.Result{Outcome: lock.Done, Reason: lock.Removed, Slot: m.Slot})
			}
		}}),
	},
	{
		Name: "gives-up-silently", Breaks: "no-false-hold",
		Doc: "verify, and acquire where it verifies, gives a removed slot up and forgets to say no",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Result.Reason == lock.Removed || m.Result.Reason == lock.Withdrawn {
				believe(m)
			}
		}}),
	},
	{
		Name: "verify-twice", Breaks: "cheap-verify",
		Doc: "verify makes sure by asking twice",
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Op == lock.Verify && m.Result.Held && m.Tries == 0 {
				m.Tries = 1
				enter(m, amqplock.Checking)
			}
		}}),
	},
	{
		Name: "verify-new-channel", Breaks: "cheap-verify",
		Doc: "verify asks on a channel of its own",
		Design: with(bug{start: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.Checking {
				rechannel(m, amqplock.Checking)
			}
		}}),
	},
	{
		Name: "mutex-verify-reconnects", Kind: lock.Mutex, Breaks: "honest-verify",
		Doc:    "the true mutex is verified on a driver that connects again by itself: somebody has it",
		Design: with(verifyReconnects),
	},
}

var verifyReconnects = bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
	if broke(m, lock.Verify) {
		m.Held = m.Slot
		redial(m, amqplock.Checking)
	}
}}
