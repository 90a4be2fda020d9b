package sim

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

// Footprint is what a client touches: with its next command, and with whatever it may still do. Two
// clients whose footprints do not meet may go in any order.
type Footprint struct {
	// Choosing says that a random option has to be chosen next: that concerns nobody else.
	Choosing bool
	// Private says that the next command touches no queue; Reads are the
	// queues of one that only looks. Both are unset where neither is the case.
	Private bool
	Reads   backend.Roles
	// Writes are the queues that the client may declare, delete or lose from now on.
	Writes backend.Roles
}

// Footprint is what a client touches in the state at hand.
func (s *System) Footprint(n int) Footprint {
	var f Footprint
	w := &s.world
	cl, impl := w.client(uint8(n))
	f.Writes = s.writes(uint8(n), impl)
	m := cl.machine
	switch {
	case cl.dead || cl.wake > w.now:
		return f
	case !cl.busy && (!s.Memoryless() || !w.upcoming(uint8(n))):
		return f // where calls are remembered, it matters when they begin
	case !cl.busy:
		op := w.scenario.Clients[n-1].Ops[cl.next]
		impl.Start(&m, op.Op, op.Arg)
	}
	switch {
	case m.Done():
		return f
	case impl.Choices(&m) > 0:
		f.Choosing = cl.busy
		return f
	}
	switch cmd := impl.Next(&m); {
	case cmd.Method == amqp.ChannelOpen, cmd.Method == amqp.ConfirmSelect, cmd.Method == amqp.TxSelect:
		f.Private = true
	case cmd.Method == amqp.BasicPublish && w.setting.options.Confirm == lock.Confirms,
		cmd.Method == amqp.QueueDeclare && cmd.Flags.Has(amqp.Passive):
		f.Reads = w.roleOf(cmd.Queue)
	}
	return f
}

// writes are the queues of the operations that are left, and those that would go with a connection if
// it were lost.
func (s *System) writes(c uint8, impl lock.Implementation) (set backend.Roles) {
	w := &s.world
	cl := &w.clients[c-1]
	for q := range w.setting.meaning {
		if o := w.broker.Owner(amqp.Queue(q)); o != 0 && int(o) < len(w.owners) && w.owners[o] == c && (o != cl.conn || s.left != FaultBounds{}) {
			set |= w.roleOf(amqp.Queue(q))
		}
	}
	if cl.dead {
		return set
	}
	known, ok := impl.(*lock.Protocol)
	if !ok {
		return backend.AllRoles // a variant may do anything
	}
	if cl.busy {
		set |= known.Writes(cl.machine.Op)
	}
	next := int(cl.next)
	if w.forever {
		next = 0
	}
	for _, op := range w.scenario.Clients[c-1].Ops[next:] {
		set |= known.Writes(op.Op)
	}
	return set
}

func (w *World) roleOf(q amqp.Queue) backend.Roles {
	if int(q) >= len(w.setting.meaning) || !w.setting.meaning[q].Known {
		return backend.AllRoles
	}
	return 1 << w.setting.meaning[q].Role
}
