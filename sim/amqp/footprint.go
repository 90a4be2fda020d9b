package amqp

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// Touches implements [sim.Cluster]: it returns the footprint of client c's next command.
func (k *cluster) Touches(c uint8, next *scenario.Operation) (f backend.Footprint) {
	cl, impl := k.client(c)
	m := cl.machine
	if next != nil {
		impl.Start(&m, next.Op, next.Arg)
	}
	switch {
	case m.Done():
		return f
	case impl.Choices(&m) > 0:
		f.Choosing = next == nil
		return f
	}
	switch cmd := impl.Next(&m); {
	case cmd.Method == amqp.ChannelOpen, cmd.Method == amqp.ConfirmSelect, cmd.Method == amqp.TxSelect:
		f.Private = true
	case cmd.Method == amqp.BasicPublish && k.options.Confirm == amqplock.Confirms,
		cmd.Method == amqp.QueueDeclare && cmd.Flags.Has(amqp.Passive):
		f.Reads = k.roles.of(cmd.Queue)
	}
	return f
}

// Writes implements [sim.Cluster]: it returns the roles of the queues that a client may still declare, delete or lose.
func (k *cluster) Writes(c uint8, dead bool, rest []scenario.Operation, safe backend.Session) (set backend.Roles) {
	for q := range k.roles {
		on := backend.Session(k.broker.Owner(amqp.Queue(q)))
		if on != 0 && on != safe && k.owner(on)&^monitor.HalfOpen == c {
			set |= k.roles.of(amqp.Queue(q))
		}
	}
	if dead {
		return set
	}
	cl, impl := k.client(c)
	known, ok := impl.(*amqplock.Protocol)
	if !ok {
		return backend.AllRoles // an unknown variant of the lock may change any queue
	}
	if !cl.machine.Idle() {
		set |= known.Writes(cl.machine.Op)
	}
	for _, op := range rest {
		set |= known.Writes(op.Op)
	}
	return set
}
