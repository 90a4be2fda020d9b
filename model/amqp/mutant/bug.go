package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// bug changes the reference's behaviour by functions, called at certain moments; nil changes nothing. The functions
// keep no state: the machine has all state.
type bug struct {
	start func(*amqplock.Protocol, *amqplock.Machine)                // called after an operation has begun
	write func(*amqplock.Protocol, *amqplock.Machine, *amqp.Command) // called before a command is sent: may change it
	read  func(*amqplock.Protocol, *amqplock.Machine, *amqp.Reply)   // called before a reply is handled: may change it
	turn  func(*amqplock.Protocol, *amqplock.Machine)                // called after Start, Choose and Apply
}

// with makes the design of a mutant: the reference with the bug b.
func with(b bug) amqplock.Design {
	return amqplock.Design{Variant: func(p *amqplock.Protocol) amqplock.Implementation { return &variant{p, b} }}
}

// variant is the reference implementation with a bug.
type variant struct {
	*amqplock.Protocol
	bug
}

// Start implements [amqplock.Implementation].
func (v *variant) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	v.Protocol.Start(m, op, arg)
	if v.start != nil {
		v.start(v.Protocol, m)
	}
	v.turned(m)
}

// Choose implements [amqplock.Implementation].
func (v *variant) Choose(m *amqplock.Machine, i int) {
	v.Protocol.Choose(m, i)
	v.turned(m)
}

// Next implements [amqplock.Implementation].
func (v *variant) Next(m *amqplock.Machine) amqp.Command {
	c := v.Protocol.Next(m)
	if v.write != nil {
		v.write(v.Protocol, m, &c)
	}
	return c
}

// Apply implements [amqplock.Implementation].
func (v *variant) Apply(m *amqplock.Machine, r amqp.Reply) {
	if v.read != nil {
		v.read(v.Protocol, m, &r)
	}
	v.Protocol.Apply(m, r)
	v.turned(m)
}

func (v *variant) turned(m *amqplock.Machine) {
	if v.turn != nil {
		v.turn(v.Protocol, m)
	}
}
