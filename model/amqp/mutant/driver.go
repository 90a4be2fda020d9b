package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var driving = []*lock.Target{
	{
		Name: "no-route-is-existence", Breaks: "no-phantom-slot",
		Doc: "NO_ROUTE is read as \"exists\" where slots are looked for: acquire claims what nobody made",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Confirm = amqplock.Confirms }),
		Design: with(bug{read: func(p *amqplock.Protocol, m *amqplock.Machine, r *amqp.Reply) {
			if isSlot(p, p.Next(m).Queue) {
				r.Returned = 0
			}
		}}),
	},
	{
		Name: "return-ignored", Breaks: "progress",
		Doc: "a confirm is taken for existence: nobody listens for messages that are returned",
		Design: with(bug{read: func(_ *amqplock.Protocol, _ *amqplock.Machine, r *amqp.Reply) {
			r.Returned = 0
		}}),
	},
	{
		Name: "mandatory-left-out", Breaks: "exact-count",
		Doc: "probes are published without the mandatory flag: every queue seems to exist",
		Design: with(bug{write: func(_ *amqplock.Protocol, _ *amqplock.Machine, c *amqp.Command) {
			c.Flags &^= amqp.Mandatory
		}}),
	},
	{
		Name: "nack-is-absence", Breaks: "linearizable",
		Doc: "a nack is taken for \"no such queue\", though the queue only rejects what it has no room for",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) {
			o.Arguments = amqp.Arguments{Has: amqp.HasMaxLength | amqp.HasOverflow, Overflow: amqp.RejectPublish}
		}),
		Design: with(bug{read: func(_ *amqplock.Protocol, _ *amqplock.Machine, r *amqp.Reply) {
			if r.Kind == amqp.Nack {
				r.Kind, r.Returned = amqp.Ack, 1
			}
		}}),
	},
	{
		Name: "probe-by-declare", Breaks: "contiguous-slots",
		Doc: "slots are looked for by declaring them, and forgetting that this makes them",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Existence = amqplock.ByPassive }),
		Design: with(bug{write: func(p *amqplock.Protocol, _ *amqplock.Machine, c *amqp.Command) {
			if c.Flags.Has(amqp.Passive) && isSlot(p, c.Queue) {
				c.Flags, c.Args = amqp.Durable, p.Options.Arguments
			}
		}}),
	},
	{
		Name: "probe-by-passive-declare", Breaks: "cheap-acquire",
		Doc: "probes are passive declares: every queue that is not there, or is another's, breaks the channel",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Existence = amqplock.ByPassive }),
	},
	{
		Name: "probe-by-get", Breaks: "minimal-driver",
		Doc: "probes are basic.get: a driver that can't get can't lock",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Existence = amqplock.ByPassive }),
		Design: with(bug{write: func(_ *amqplock.Protocol, _ *amqplock.Machine, c *amqp.Command) {
			if c.Flags.Has(amqp.Passive) {
				c.Method, c.Flags = amqp.BasicGet, amqp.NoAck
			}
		}}),
	},
	{
		Name: "verify-by-purge", Breaks: "minimal-driver",
		Doc: "verify purges the A queue of probes, and sees on the way that it exists",
		Design: with(bug{write: func(_ *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if probes(m, amqplock.Checking, c) {
				c.Method, c.Flags = amqp.QueuePurge, 0
			}
		}}),
	},
}
