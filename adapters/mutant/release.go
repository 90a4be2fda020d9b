package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

var releasing = []*lock.Target{
	{
		Name: "release-deletes-slot", Breaks: "effective-release",
		Doc: "release deletes the A queue instead of the B queue",
		Fix: func(o *lock.Options) { o.Release = lock.DeleteB },
		Variant: with(bug{write: func(p *lock.Protocol, m *lock.Machine, c *amqp.Command) {
			if m.Phase == lock.DeletingB {
				c.Queue = p.Layout.A[m.Slot]
			}
		}}),
	},
	{
		Name: "release-forgets", Breaks: "effective-release",
		Doc: "release forgets the slot and tells the broker nothing",
		Variant: with(bug{start: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Release {
				end(m, lock.Result{Outcome: lock.Done, Slot: m.Slot})
			}
		}}),
	},
	{
		Name: "release-closes-channel", Breaks: "effective-release",
		Doc: "release closes the channel, as the guidelines suggest: RabbitMQ keeps the B queue for the connection",
		Fix: func(o *lock.Options) { o.Release = lock.CloseChannel },
	},
	{
		Name: "mutex-release-forgets", Kind: lock.Mutex, Breaks: "effective-release",
		Doc: "the true mutex is released by forgetting it",
		Variant: with(bug{start: func(_ *lock.Protocol, m *lock.Machine) {
			if m.Op == lock.Release {
				end(m, lock.Result{Outcome: lock.Done, Slot: m.Slot})
			}
		}}),
	},
}
