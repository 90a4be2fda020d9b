package wire

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// register maps names of queues to the model's numbers. A number is reused once its queue is gone: there are only
// 65,535, and clients may use new names forever.
type register struct {
	names  amqp.Names
	broker *broker.Broker
	ids    map[string]amqp.Queue
	places []place // indexed by the queue's number
	free   []amqp.Queue
	sweep  int // number of names at which clean removes those without a queue
}

// place is a queue's name and declaration, which the model does not have.
type place struct {
	name     string
	declared *frame.QueueDeclare // the declaration that created the queue; nil while there is no queue
}

// absent is the number of a queue that never exists.
const absent amqp.Queue = 1

// lookup is the number of the queue with the given name, or [absent] if the name has none.
func (r *register) lookup(name string) amqp.Queue {
	if id, ok := r.ids[name]; ok {
		return id
	}
	r.start()
	return absent
}

func (r *register) start() {
	if r.ids == nil {
		r.names.Intern("\n") // reserves the number absent; no client can use this name
		r.ids, r.places, r.sweep = make(map[string]amqp.Queue), make([]place, absent+1), 1024
	}
}

// enter is the number for a queue to be declared; 0 if no number is left.
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

// route is a number for the routing of the next command. It is valid for that command only, as brokers do not store a
// command's routing.
func (r *register) route(of amqp.Routing) amqp.Route {
	r.names.ForgetRoutes()
	return r.names.InternRoute(of)
}

// clean frees the numbers of names whose queues are gone. The order in which numbers are reused depends only on the
// numbers in use.
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
