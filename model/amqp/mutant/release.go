package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

var releasing = []*lock.Target{
	{
		Name: "release-deletes-slot", Breaks: "effective-release",
		Doc: "release deletes the A queue instead of the B queue",
		Fix: lock.AMQP.Fix(func(o *lock.AMQPOptions) { o.Release = lock.DeleteB }),
		Design: with(bug{write: func(p *lock.Protocol, m *lock.Machine, c *amqp.Command) {
			if m.Phase == lock.DeletingB {
				c.Queue = p.Layout.A[m.Slot]
			}
		}}),
	},
	{
		Name: "release-forgets", Breaks: "effective-release",
		Doc:    "release forgets the slot and tells the broker nothing",
		Design: with(releaseForgets),
	},
	{
		Name: "release-closes-channel", Breaks: "effective-release",
		Doc: "release closes the channel, as the guidelines suggest: the B queue is the connection's, and stays",
		Fix: lock.AMQP.Fix(func(o *lock.AMQPOptions) { o.Release = lock.CloseChannel }),
	},
	{
		Name: "mutex-release-forgets", Kind: lock.Mutex, Breaks: "effective-release",
		Doc:    "the true mutex is released by forgetting it",
		Design: with(releaseForgets),
	},
}

var releaseForgets = bug{start: func(_ *lock.Protocol, m *lock.Machine) {
	if beginning(m, lock.Release) {
		end(m, lock.Result{Outcome: lock.Done, Slot: m.Slot})
	}
}}
