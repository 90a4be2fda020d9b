package mutant

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// bug changes the reference's behaviour by hooks. A nil hook changes nothing. Like the reference, a hook keeps no
// state: the machine has all state.
type bug struct {
	start func(*amqplock.Protocol, *amqplock.Machine)                // an operation has just begun
	write func(*amqplock.Protocol, *amqplock.Machine, *amqp.Command) // a command is about to be written
	read  func(*amqplock.Protocol, *amqplock.Machine, *amqp.Reply)   // a reply is about to be read
	turn  func(*amqplock.Protocol, *amqplock.Machine)                // the machine has begun, chosen, or read a reply
}

// with makes the reference with a bug.
func with(b bug) amqplock.Design {
	return amqplock.Design{Variant: func(p *amqplock.Protocol) amqplock.Implementation { return &variant{p, b} }}
}

// variant is the reference with a bug.
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
