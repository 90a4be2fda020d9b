package broker

import "github.com/lockproof/lockproof/model/amqp"

// Restart stops the broker and starts it again. Connections, exclusive queues and transient queues are lost. Durable
// queues keep their persistent messages, and quorum queues keep all messages.
func (b *Broker) Restart() {
	for i := range b.conns { // first, so that nothing is delivered during the shutdown
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
