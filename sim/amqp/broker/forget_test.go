package broker

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// TestDeletedQueueIsForgotten: the unacknowledged messages of a deleted queue are dropped. A later queue with the same
// name gets none of them back; other queues get theirs. It makes no difference how the messages are returned, or
// whether in a transaction.
func TestDeletedQueueIsForgotten(t *testing.T) {
	other := func(m amqp.Method) amqp.Command { return amqp.Command{Method: m, Channel: 1, Queue: 2} }
	back := cmd(amqp.BasicNack, amqp.Requeue|amqp.Multiple)
	back.Number = 0 // with Multiple, 0 names all unacknowledged messages
	for name, c := range map[string]struct{ before, after []amqp.Command }{
		"nack":                            {nil, []amqp.Command{back}},
		"closing the channel":             {nil, []amqp.Command{cmd(amqp.ChannelClose, 0)}},
		"closing the connection":          {nil, []amqp.Command{cmd(amqp.ConnectionClose, 0)}},
		"nack in a transaction":           {[]amqp.Command{cmd(amqp.TxSelect, 0)}, []amqp.Command{back, cmd(amqp.TxCommit, 0)}},
		"deleted before it is committed":  {[]amqp.Command{cmd(amqp.TxSelect, 0), back}, []amqp.Command{cmd(amqp.TxCommit, 0)}},
		"deleted before it is taken back": {[]amqp.Command{cmd(amqp.TxSelect, 0), back}, []amqp.Command{cmd(amqp.TxRollback, 0), cmd(amqp.ChannelClose, 0)}},
	} {
		for deleted := range 2 { // with and without deleting the queue
			b := fuzzed(Options{})
			for _, q := range []func(amqp.Method) amqp.Command{func(m amqp.Method) amqp.Command { return cmd(m, 0) }, other} {
				b.Apply(2, q(amqp.QueueDeclare))
				for range 2 {
					b.Apply(2, q(amqp.BasicPublish))
				}
			}
			b.Apply(1, cmd(amqp.BasicGet, 0))
			b.Apply(1, other(amqp.BasicGet))
			b.Apply(1, cmd(amqp.BasicGet, 0))
			for _, x := range c.before {
				b.Apply(1, x)
			}
			if deleted == 1 {
				b.Apply(2, cmd(amqp.QueueDelete, 0))
				b.Apply(2, cmd(amqp.QueueDeclare, 0))
			}
			for _, x := range c.after {
				b.Apply(1, x)
			}
			if got, want := [2]int{b.Depth(1), b.Depth(2)}, [2]int{2 - 2*deleted, 2}; got != want {
				t.Errorf("%s, deleted %d times: %d messages are there, want %d", name, deleted, got, want)
			}
			b.expectConsistent(t)
		}
	}
}

// TestLike: the options follow from the name of the version. An unknown name has the options of RabbitMQ 3.10.8.
func TestLike(t *testing.T) {
	served := Options{SuccessorServed: true, OwnTimeouts: true}
	routed := Options{RoutedAtPublish: true, SuccessorServed: true, OwnTimeouts: true, Four: true}
	transient := Options{TransientRefused: true, RoutedAtPublish: true, SuccessorServed: true, OwnTimeouts: true, Four: true}
	for version, want := range map[string]Options{
		"RabbitMQ 3.10.8": {}, "RabbitMQ 3.11.9": {}, "RabbitMQ 3.12.0": served, "RabbitMQ 3.13.7": served, "RabbitMQ 3.4": {}, "RabbitMQ 4.0.5": routed, "RabbitMQ 4.1.0": routed,
		"RabbitMQ 4.2.9": routed, "RabbitMQ 4.3.0": transient, "RabbitMQ 4.4": transient, "RabbitMQ 5.0.0": transient,
		"RabbitMQ 5.3": transient, "RabbitMQ 4": {}, "RabbitMQ": {}, "LavinMQ 4.3": {}, "": {},
	} {
		if got := Like(version); got != want {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
	}
}

// TestLateRollback: after the rollback of an acknowledgement, the consumer timeout applies again.
func TestLateRollback(t *testing.T) {
	b := New(new(amqp.Names), Options{ConsumerTimeout: 5})
	c := b.Connect()
	do := func(m amqp.Method, number uint64) amqp.Reply {
		return b.Apply(c, amqp.Command{Method: m, Channel: 1, Queue: 1, Number: number})
	}
	do(amqp.ChannelOpen, 0)
	do(amqp.QueueDeclare, 0)
	do(amqp.BasicPublish, 0)
	do(amqp.TxSelect, 0)
	do(amqp.BasicGet, 0)
	do(amqp.BasicAck, 1)
	if _, due := b.NextTimer(); due {
		t.Fatal("a message that is acknowledged is waited for")
	}
	do(amqp.TxRollback, 0)
	if at, due := b.NextTimer(); !due || at != 5 {
		t.Errorf("the next timer is at %d, %v", at, due)
	}
}
