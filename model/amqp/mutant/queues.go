package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var queues = []*lock.Target{
	{
		Name: "holder-shared", Breaks: "mutual-exclusion",
		Doc:    "B queues are not declared exclusive: two may declare one at once",
		Design: with(claimingWith(0)),
	},
	{
		Name: "holder-auto-delete", Breaks: "crash-frees",
		Doc:    "B queues are auto-delete instead of exclusive: without a consumer they never go",
		Design: with(claimingWith(amqp.AutoDelete)),
	},
	{
		Name: "holder-durable", Breaks: "survives-restart",
		Doc:    "B queues are durable instead of exclusive: after a restart there are holders",
		Design: with(claimingWith(amqp.Durable)),
	},
	{
		Name: "holder-expires", Breaks: "removal-drains",
		Doc: "B queues have x-expires, against holders that hang: a probe is not a use",
		Design: with(bug{write: func(_ *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if claims(m, c) {
				c.Args.Has, c.Args.Expires = c.Args.Has|amqp.HasExpires, 100
			}
		}}),
	},
	{
		Name: "slots-transient", Breaks: "survives-restart",
		Doc: "A queues are not durable: a broker restart takes them away",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Durable = false }),
	},
	{
		Name: "slots-expire", Breaks: "contiguous-slots",
		Doc: "A queues have x-expires, against slots that are forgotten: a probe is not a use",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) {
			o.Arguments.Has, o.Arguments.Expires = o.Arguments.Has|amqp.HasExpires, 200
		}),
	},
	{
		Name: "slots-exclusive", Breaks: "contiguous-slots",
		Doc: "A queues are declared exclusive: they go with the administrator's connection",
		Design: with(bug{write: func(_ *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
			if m.Phase == amqplock.Growing {
				c.Flags = amqp.Exclusive
			}
		}}),
	},
	{
		Name: "probes-pile-up", Breaks: "no-leak",
		Doc: "queues have no limit: the probes' messages stay in them",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Arguments = amqp.Arguments{} }),
	},
	{
		Name: "one-connection", Breaks: "mutual-exclusion",
		Doc: "all clients of a process share one connection: what is exclusive to it is all theirs",
		Fix: amqplock.Table.Fix(func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection }),
	},
	{
		Name: "mutex-shared", Kind: lock.Mutex, Breaks: "mutual-exclusion",
		Doc:    "the true mutex is not declared exclusive",
		Design: with(claimingWith(0)),
	},
	{
		Name: "mutex-auto-delete", Kind: lock.Mutex, Breaks: "crash-frees",
		Doc:    "the true mutex is auto-delete instead of exclusive",
		Design: with(claimingWith(amqp.AutoDelete)),
	},
}

// claimingWith is a bug: a client declares its B queue (the queue of a slot's holder) with these flags instead of
// exclusive.
func claimingWith(flags amqp.Flags) bug {
	return bug{write: func(_ *amqplock.Protocol, m *amqplock.Machine, c *amqp.Command) {
		if claims(m, c) {
			c.Flags = flags
		}
	}}
}
