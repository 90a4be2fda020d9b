package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// bug is what a mutant does otherwise than the reference. A hook that is nil changes nothing. Like
// the reference, hooks keep no state but the machine's.
type bug struct {
	// start alters how an operation begins, once it has.
	start func(p *lock.Protocol, m *lock.Machine)
	// write alters a command on its way to the broker.
	write func(p *lock.Protocol, m *lock.Machine, c *amqp.Command)
	// read alters a reply before the machine is handed it.
	read func(p *lock.Protocol, m *lock.Machine, r *amqp.Reply)
	// turn redirects a machine that has just been started, or handed a reply.
	turn func(p *lock.Protocol, m *lock.Machine)
}

// with makes the reference with a bug.
func with(b bug) func(*lock.Protocol) lock.Implementation {
	return func(p *lock.Protocol) lock.Implementation { return &variant{p, b} }
}

type variant struct {
	*lock.Protocol
	bug
}

func (v *variant) Start(m *lock.Machine, op lock.Op, arg uint8) {
	v.Protocol.Start(m, op, arg)
	if v.start != nil {
		v.start(v.Protocol, m)
	}
	if v.turn != nil {
		v.turn(v.Protocol, m)
	}
}

func (v *variant) Choose(m *lock.Machine, i int) {
	v.Protocol.Choose(m, i)
	if v.turn != nil {
		v.turn(v.Protocol, m)
	}
}

func (v *variant) Next(m *lock.Machine) amqp.Command {
	c := v.Protocol.Next(m)
	if v.write != nil {
		v.write(v.Protocol, m, &c)
	}
	return c
}

func (v *variant) Apply(m *lock.Machine, r amqp.Reply) {
	if v.read != nil {
		v.read(v.Protocol, m, &r)
	}
	v.Protocol.Apply(m, r)
	if v.turn != nil {
		v.turn(v.Protocol, m)
	}
}

// enter has the machine go on with a phase.
func enter(m *lock.Machine, phase lock.Phase) { m.Phase, m.Answered, m.Seen = phase, 0, 0 }

// end has the operation be over.
func end(m *lock.Machine, r lock.Result) {
	enter(m, lock.NoPhase)
	m.Result = r
}

// redial has the machine open a new connection, then go on with a phase.
func redial(m *lock.Machine, then lock.Phase) {
	enter(m, lock.Dialing)
	m.Link, m.Then, m.Decided, m.Result = lock.Down, then, false, lock.Result{}
}

// granted is the result of an acquire that believes to have the slot at hand.
func granted(m *lock.Machine) {
	m.Held = m.Slot
	end(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// declaresHolder reports whether a command is the one that claims a slot, or the true mutex.
func declaresHolder(m *lock.Machine, c *amqp.Command) bool {
	return m.Phase == lock.Claiming && c.Method == amqp.QueueDeclare && !c.Flags.Has(amqp.Passive)
}
