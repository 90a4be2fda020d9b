package broker

import "github.com/lockproof/lockproof/model/amqp"

// Restart is the broker going down and coming up again: connections and exclusive queues are gone,
// transient queues as well, and of durable queues the persistent messages stay.
func (b *Broker) Restart() {
	for i := range b.conns { // first, so that nothing is delivered while it goes down
		b.dropConsumersOf(Conn(i + 1))
	}
	for i := range b.conns {
		b.Disconnect(Conn(i + 1))
	}
	if b.routing != nil {
		b.routing.restart(b)
	}
	for id := range b.queues {
		q := &b.queues[id]
		switch {
		case !q.exists:
		case !q.durable:
			b.drop(amqp.Queue(id))
		default:
			if !q.quorum() {
				q.ready.dropTransient()
			}
			q.wake = 0
			q.rearm()
			b.touch(q)
		}
	}
}
