package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var releasing = []*lock.Target{
	{
		Name: "release-deletes-slot", Breaks: "effective-release",
		Doc: "release deletes the A queue instead of the B queue",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Release = amqplock.DeleteB }),
		Design: with(bug{write: func(p *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if m.Phase == amqplock.DeletingB {
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
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Release = amqplock.CloseChannel }),
	},
	{
		Name: "mutex-release-forgets", Kind: lock.Mutex, Breaks: "effective-release",
		Doc:    "the true mutex is released by forgetting it",
		Design: with(releaseForgets),
	},
}

var releaseForgets = bug{start: func(_ *amqplock.Protocol, m *amqplock.Machine) {
	if beginning(m, lock.Release) {
		end(m, lock.Result{Outcome: lock.Done, Slot: m.Slot})
	}
}}
