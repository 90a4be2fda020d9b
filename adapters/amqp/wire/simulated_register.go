package wire

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// register gives the names of queues the numbers that the model knows them by. A number is used again
// when its queue is gone, because there are few of them and clients choose new names for ever.
type register struct {
	names  amqp.Names
	broker *broker.Broker
	ids    map[string]amqp.Queue
	places []place // by number
	free   []amqp.Queue
	sweep  int // how many names there may be before those without a queue go
}

// place is what is known of a queue besides what the model knows.
type place struct {
	name     string
	declared *frame.QueueDeclare // the first time; nil while there is no queue
}

// absent is a queue that never exists.
const absent amqp.Queue = 1

// lookup is the number of a name, [absent] for one that no queue has had lately.
func (r *register) lookup(name string) amqp.Queue {
	if id, ok := r.ids[name]; ok {
		return id
	}
	r.start()
	return absent
}

func (r *register) start() {
	if r.ids == nil {
		r.names.Intern("\n") // which no name of a client's has in it
		r.ids, r.places, r.sweep = make(map[string]amqp.Queue), make([]place, absent+1), 1024
	}
}

// enter is the number for a queue to be declared, 0 when there are none left.
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

// route is the number of what the next command says of exchanges. The one before it may have had the same:
// brokers don't keep them.
func (r *register) route(of amqp.Routing) amqp.Route {
	r.names.ForgetRoutes()
	return r.names.InternRoute(of)
}

// clean forgets names whose queues are gone. Which numbers are free next depends on the numbers alone.
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
