package monitor

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
)

// exchanged tells a monitor that client c has sent an AMQP command, and its reply.
func exchanged(m *Monitor, c uint8, cmd amqp.Command, reply amqp.Reply, confirms bool) {
	x := cmd.Exchange(reply, cmd.Replies(confirms))
	m.Exchange(c, &x)
}

// touch tells a monitor that client c has sent an AMQP command on the lock's resource with that role and slot.
func touch(m *Monitor, c uint8, role backend.Role, slot uint8, cmd amqp.Command, reply amqp.Reply) {
	x := cmd.Exchange(reply, true)
	x.Role, x.Slot, x.Known = role, slot, true
	m.Touch(c, &x)
}
