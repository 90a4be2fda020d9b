package broker

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// cmd returns a command on channel 1 that concerns the first queue.
func cmd(m amqp.Method, flags amqp.Flags) amqp.Command {
	return amqp.Command{Method: m, Channel: 1, Queue: 1, Number: 1, Flags: flags}
}

// TestRestartDeliversNothing: a restart ends connections one after the other. The messages of one that ends are not
// delivered to a connection that ends later.
func TestRestartDeliversNothing(t *testing.T) {
	b := fuzzed(Options{})
	for _, c := range []amqp.Command{cmd(amqp.QueueDeclare, amqp.Durable), cmd(amqp.BasicPublish, amqp.Persistent), cmd(amqp.BasicGet, 0)} {
		b.Apply(1, c)
	}
	b.Apply(2, cmd(amqp.BasicConsume, amqp.NoAck))
	b.Restart()
	if n := b.Depth(1); n != 1 {
		t.Errorf("%d messages are left of one that nobody has acknowledged", n)
	}
}

// TestCommitTellsOfAnyRejection: if a queue rejects any message of a transaction, the commit fails. The other messages
// stay in their queues.
func TestCommitTellsOfAnyRejection(t *testing.T) {
	for _, rejected := range []int{0, 1, 2} {
		b := fuzzed(Options{})
		full := amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: 2, Args: amqp.Arguments{Has: amqp.HasMaxLength | amqp.HasOverflow, Overflow: amqp.RejectPublish}}
		for _, c := range []amqp.Command{full, cmd(amqp.QueueDeclare, 0), cmd(amqp.TxSelect, 0)} {
			b.Apply(1, c)
		}
		for i := range 3 {
			publish := cmd(amqp.BasicPublish, 0)
			if i == rejected {
				publish.Queue = 2
			}
			b.Apply(1, publish)
		}
		if r := b.Apply(1, cmd(amqp.TxCommit, 0)); r.Kind != amqp.ChannelClosed || b.Depth(1) != 2 {
			t.Errorf("message %d is rejected: the commit is answered with %+v, and %d messages are there", rejected, r, b.Depth(1))
		}
	}
}

// TestBroken: Broken returns a channel's error code from the error that closed it until it is opened again. It returns
// 0 for a channel of a connection that has ended.
func TestBroken(t *testing.T) {
	b := fuzzed(Options{})
	expect := func(when string, c Conn, number uint16, want amqp.Code) {
		t.Helper()
		if got := b.Broken(c, number); got != want {
			t.Errorf("%s: channel %d of connection %d is broken by %v, want %v", when, number, c, got, want)
		}
	}
	expect("before", 1, 1, 0)
	b.Apply(1, cmd(amqp.BasicGet, 0)) // the queue does not exist, which closes the channel
	expect("after", 1, 1, amqp.NotFound)
	expect("after", 2, 1, 0)
	expect("after", 1, 3, 0)
	b.Apply(1, cmd(amqp.ChannelOpen, 0))
	expect("opened again", 1, 1, 0)
	b.Apply(1, cmd(amqp.BasicGet, 0))
	b.Disconnect(1)
	expect("disconnected", 1, 1, 0)
	expect("never there", 0, 1, 0)
	expect("never there", 9, 1, 0)
}

// TestPrefetchConcernsAcknowledgements: a prefetch count does not limit a consumer that need not acknowledge.
func TestPrefetchConcernsAcknowledgements(t *testing.T) {
	for _, flags := range []amqp.Flags{0, amqp.NoAck} {
		b := fuzzed(Options{})
		b.Apply(1, cmd(amqp.QueueDeclare, 0))
		b.Apply(1, cmd(amqp.BasicQos, 0)) // prefetch count 1
		b.Apply(1, cmd(amqp.BasicConsume, flags))
		for range 3 {
			b.Apply(2, cmd(amqp.BasicPublish, 0))
		}
		want := map[amqp.Flags]int{0: 1, amqp.NoAck: 3}[flags]
		if sent := b.Deliveries(1, nil); len(sent) != want {
			t.Errorf("flags %v: %d messages were delivered, want %d", flags, len(sent), want)
		}
	}
}

// TestPrefetch: a consumer with a prefetch count gets that many messages at first, and then one more for each that it
// settles.
func TestPrefetch(t *testing.T) {
	for _, settle := range []amqp.Command{cmd(amqp.BasicAck, 0), cmd(amqp.BasicNack, 0)} {
		for prefetch := 1; prefetch <= 2; prefetch++ {
			b := fuzzed(Options{})
			b.Apply(1, cmd(amqp.QueueDeclare, 0))
			b.Apply(1, amqp.Command{Method: amqp.BasicQos, Channel: 1, Number: uint64(prefetch)})
			b.Apply(1, cmd(amqp.BasicConsume, 0))
			for range 6 {
				b.Apply(2, cmd(amqp.BasicPublish, 0))
			}
			if n := len(b.Deliveries(1, nil)); n != prefetch {
				t.Errorf("prefetch %d: %d messages at first", prefetch, n)
			}
			for tag := uint64(1); tag <= 3; tag++ {
				settle.Number = tag
				b.Apply(1, settle)
				if n := len(b.Deliveries(1, nil)); n != 1 {
					t.Errorf("prefetch %d: %d messages after one was settled", prefetch, n)
				}
			}
		}
	}
}
