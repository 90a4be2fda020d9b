package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

// exchange describes a command of client c and its reply. Consuming the queue of a mutex, or getting a token, counts as
// a claim of the lock.
func (k *cluster) exchange(c uint8, cmd *amqp.Command, r amqp.Reply) backend.Exchange {
	cl, p := k.client(c)
	x := cmd.Exchange(r, cmd.Replies(cl.confirms))
	m := &cl.machine
	on := func(role backend.Role, access backend.Access, slot uint8) {
		x.Role, x.Access, x.Slot, x.Lock, x.Known = role, access, slot, uint8(k.scenario.Clients[c-1].Lock), true
	}
	hold := backend.Holder
	if p.Kind == lock.Mutex {
		hold = backend.Mutex
	}
	x.Key = uint16(cmd.Queue)
	switch {
	case cmd.Method == amqp.BasicConsume:
		on(hold, backend.Create, 1)
		if r.Code == amqp.AccessRefused {
			x.Result = backend.Refused
		}
	case cmd.Method == amqp.BasicGet && m.Op == lock.Acquire:
		on(hold, backend.Create, cl.granted)
	case m.Op == lock.Release && (cmd.Method == amqp.BasicCancel || cmd.Method == amqp.BasicNack || cmd.Method == amqp.BasicAck):
		on(hold, backend.Delete, m.Slot)
	case cmd.Queue != 0 && cmd.Queue == p.Layout.Admin:
		on(backend.AdminMutex, x.Access, 0)
	case p.Kind == lock.PersistentMutex && m.Op.Administrative() && r.Kind == amqp.ChannelClosed: // refused: no effect
	case cmd.Queue != 0 && m.Op.Administrative():
		on(backend.Slot, x.Access, 0)
	case cmd.Method == amqp.QueueDeclare:
		on(backend.Slot, backend.Read, 0)
	}
	return x
}
