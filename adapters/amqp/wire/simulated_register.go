package wire

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// register maps names of queues to the model's numbers. A number is reused when its queue is gone, because there are few
// numbers and clients may use new names forever.
type register struct {
	names  amqp.Names
	broker *broker.Broker
	ids    map[string]amqp.Queue
	places []place // by number
	free   []amqp.Queue
	sweep  int // number of names at which those without a queue are removed
}

// place is what is known of a queue in addition to the model's state.
type place struct {
	name     string
	declared *frame.QueueDeclare // its first declaration; nil while there is no queue
}

// absent is the number of a queue that never exists.
const absent amqp.Queue = 1

// lookup is the number of a name. It is [absent] if no queue had that name recently.
func (r *register) lookup(name string) amqp.Queue {
	if id, ok := r.ids[name]; ok {
		return id
	}
	r.start()
	return absent
}

func (r *register) start() {
	if r.ids == nil {
		r.names.Intern("\n") // clients cannot use that name
		r.ids, r.places, r.sweep = make(map[string]amqp.Queue), make([]place, absent+1), 1024
	}
}

// enter is the number for a queue to be declared, 0 if none is left.
func (r *register) enter(name string) amqp.Queue {
	r.start()
	if id, ok := r.ids[name]; ok {
		return id
	}
	if len(r.ids) >= r.sweep && r.broker.Settled() {
		r.clean()
	}
	var id amqp.Queue
	switch n := len(r.free); {
	case n > 0:
		id, r.free = r.free[n-1], r.free[:n-1]
		r.names.Rename(id, name)
	case r.names.Len() < maxQueues:
		id = r.names.Intern(name)
		r.places = append(r.places, place{})
	default:
		return 0
	}
	r.ids[name], r.places[id] = id, place{name: name}
	return id
}

// route is the number of the next command's routing. Different commands may use the same number, as brokers don't keep
// routings.
func (r *register) route(of amqp.Routing) amqp.Route {
	r.names.ForgetRoutes()
	return r.names.InternRoute(of)
}

// clean removes names whose queues are gone. The next free numbers depend only on the numbers in use.
func (r *register) clean() {
	for id := amqp.Queue(len(r.places) - 1); id > absent; id-- {
		if p := &r.places[id]; p.name != "" && !r.broker.Exists(id) {
			delete(r.ids, p.name)
			*p = place{}
			r.free = append(r.free, id)
		}
	}
	r.sweep = max(1024, min(2*len(r.ids), maxQueues-1))
}
