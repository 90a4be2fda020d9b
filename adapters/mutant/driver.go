package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

var driving = []*lock.Target{
	{
		Name: "probe-by-get", Breaks: "minimal-driver",
		Doc: "probes are basic.get: a driver that can't get can't lock",
		Fix: func(o *lock.Options) { o.Existence = lock.ByPassive },
		Variant: with(bug{write: func(_ *lock.Protocol, _ *lock.Machine, c *amqp.Command) {
			if c.Flags.Has(amqp.Passive) {
				c.Method, c.Flags = amqp.BasicGet, amqp.NoAck
			}
		}}),
	},
	{
		Name: "verify-by-purge", Breaks: "minimal-driver",
		Doc: "verify purges the A queue: that it exists is seen on the way",
		Variant: with(bug{write: func(_ *lock.Protocol, m *lock.Machine, c *amqp.Command) {
			if m.Phase == lock.Checking && c.Method == amqp.BasicPublish {
				c.Method, c.Flags = amqp.QueuePurge, 0
			}
		}}),
	},
	{
		Name: "return-ignored", Breaks: "progress",
		Doc: "a confirm is taken for existence: nobody listens for returned messages",
		Variant: with(bug{read: func(_ *lock.Protocol, _ *lock.Machine, r *amqp.Reply) {
			r.Returned = 0
		}}),
	},
	{
		Name: "mandatory-left-out", Breaks: "exact-count",
		Doc: "probes are published without the mandatory flag: every queue seems to exist",
		Variant: with(bug{write: func(_ *lock.Protocol, _ *lock.Machine, c *amqp.Command) {
			c.Flags &^= amqp.Mandatory
		}}),
	},
	{
		Name: "nack-is-absence", Breaks: "linearizable",
		Doc: "a nack is taken for \"no such queue\" though the queue rejects what it has no room for",
		Fix: func(o *lock.Options) {
			o.Arguments = amqp.Arguments{Has: amqp.HasMaxLength | amqp.HasOverflow, Overflow: amqp.RejectPublish}
		},
		Variant: with(bug{read: func(_ *lock.Protocol, _ *lock.Machine, r *amqp.Reply) {
			if r.Kind == amqp.Nack {
				r.Kind, r.Returned = amqp.Ack, 1
			}
		}}),
	},
}
