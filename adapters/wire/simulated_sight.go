package wire

import (
	"iter"

	"github.com/lockproof/lockproof/model/amqp"
)

// Sight is the simulated broker at one moment, by the names that clients use.
type Sight struct{ s *Simulated }

// Look shows the broker as it is now. It must not be looked at later.
func (s *Simulated) Look(look func(Sight)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(Sight{s})
}

// Exists reports whether there is a queue of that name.
func (v Sight) Exists(name string) bool { return v.s.broker.Exists(v.s.queues.lookup(name)) }

// Depth is how many messages a queue has.
func (v Sight) Depth(name string) int { return v.s.broker.Depth(v.s.queues.lookup(name)) }

// Owner is the connection that has a queue exclusively; nil where there is none.
func (v Sight) Owner(name string) *Conn {
	conn := v.s.broker.Owner(v.s.queues.lookup(name))
	if conn == 0 || int(conn) > len(v.s.sessions) || v.s.sessions[conn-1] == nil {
		return nil
	}
	return v.s.sessions[conn-1].c
}

// Queues are the names of all queues.
func (v Sight) Queues() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range v.s.queues.places {
			if p := &v.s.queues.places[id]; p.name != "" && v.s.broker.Exists(amqp.Queue(id)) && !yield(p.name) {
				return
			}
		}
	}
}

// Delete deletes a queue, as its owner would if somebody has it exclusively.
func (s *Simulated) Delete(name string) {
	s.do(func() {
		queue := s.queues.lookup(name)
		conn := s.broker.Owner(queue)
		if conn == 0 {
			conn = s.broker.Connect()
			defer s.broker.Disconnect(conn)
		}
		for _, do := range []amqp.Method{amqp.ChannelOpen, amqp.QueueDelete, amqp.ChannelClose} {
			s.broker.Apply(conn, amqp.Command{Method: do, Channel: spareChannel, Queue: queue})
		}
	})
}

// spareChannel is one that no client can have.
const spareChannel = channelMax + 1
