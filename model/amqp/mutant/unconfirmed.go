package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// unconfirmed are mutants of the semaphore for brokers without confirms: "repeated exclusive queue declarations and
// rebuilding channels more frequently" (guidelines, "Non-RabbitMQ AMQP brokers").
var unconfirmed = []*lock.Target{
	{
		Name: "verify-claim-only", Breaks: "honest-verify",
		Doc: "without confirms, verify only declares its B queue again: that is its own, whatever became of the slot",
		Fix: withoutConfirms(amqplock.VerifyClaim),
	},
	{
		Name: "reclaim-not-exclusive", Breaks: "no-leak",
		Doc: "without confirms, verify declares its B queue again and leaves the exclusive flag out: its own queue is refused",
		Fix: withoutConfirms(amqplock.VerifyBoth),
		Design: with(bug{write: func(_ *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if m.Phase == amqplock.Reclaiming {
				c.Flags &^= amqp.Exclusive
			}
		}}),
	},
	{
		Name: "reclaim-reconnects", Breaks: "stale-belief-ends",
		Doc: "without confirms, verify runs on a driver that connects again by itself, and declares its B queue anew",
		Fix: withoutConfirms(amqplock.VerifyBoth),
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if broke(m, lock.Verify) {
				m.Held = m.Slot
				redial(m, amqplock.Reclaiming)
			}
		}}),
	},
	{
		Name: "locked-is-absent", Breaks: "linearizable",
		Doc: "without confirms, acquire takes any channel that breaks for a slot that is not there: all are taken, once the first is",
		Fix: withoutConfirms(amqplock.VerifyBoth),
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			if m.Phase == amqplock.ScanningA && m.Slot > 1 {
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
			}
		}}),
	},
	{
		Name: "broken-channel-releases", Breaks: "no-leak",
		Doc: "without confirms, verify and acquire take the channel that a removed slot breaks for the end of the B queue as well",
		Fix: withoutConfirms(amqplock.VerifyBoth),
		Design: with(bug{turn: func(_ *amqplock.Protocol, m *amqplock.Machine) {
			switch m.Phase {
			case amqplock.Withdrawing:
				end(m, lock.Result{Outcome: lock.Failed, Reason: lock.Withdrawn, Slot: m.Slot})
			case amqplock.Relinquishing:
				end(m, lock.Result{Outcome: lock.Done, Reason: lock.Removed, Slot: m.Slot})
			}
		}}),
	},
}

// withoutConfirms sets the options for brokers without confirms and transactions. verify is the value of the option
// Verify.
func withoutConfirms(verify string) func(lock.Options) lock.Options {
	return amqplock.Table.Fix(func(o *amqplock.Options) {
		o.Existence, o.Confirm, o.Claim, o.Verify = amqplock.ByPassive, amqplock.NoConfirms, amqplock.ClaimUnseen, verify
	})
}
