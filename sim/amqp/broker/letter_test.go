package broker

import (
	"fmt"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// lettered returns a broker with a queue a, whose messages expire after one millisecond. They are forwarded as dead
// letters to queue b.
func lettered(t *testing.T) *Broker {
	names := new(amqp.Names)
	a, second := names.Intern("a"), names.Intern("b")
	b := New(names, Options{})
	b.Connect()
	b.Apply(1, amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
	b.Apply(1, amqp.Command{Method: amqp.ChannelOpen, Channel: 2})
	b.Apply(1, amqp.Command{Method: amqp.TxSelect, Channel: 2})
	route := names.InternRoute(amqp.Routing{Exchange: "", Key: "b"})
	args := amqp.Arguments{Has: amqp.HasMessageTTL | amqp.HasDeadLetterExchange | amqp.HasDeadLetterKey, MessageTTL: 1}
	for _, c := range []amqp.Command{{Queue: a, Args: args, Route: route}, {Queue: second}} {
		c.Method, c.Channel = amqp.QueueDeclare, 1
		if r := b.Apply(1, c); r.Kind != amqp.OK {
			t.Fatalf("%v: %v", c, r)
		}
	}
	return b
}

// dead publishes message n and lets it expire, so that it becomes a dead letter in the second queue.
func dead(t *testing.T, b *Broker, n uint64) {
	t.Helper()
	b.Apply(1, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: 1, Number: n})
	if b.Advance(1); b.Depth(1) != 0 {
		t.Fatalf("message %d has not expired", n)
	}
}

// TestLettersAreForgotten: the broker keeps the routing data of a dead letter as long as a message has it, and then
// drops it. The message may be ready, unacknowledged, in a transaction, or on its way to a consumer.
func TestLettersAreForgotten(t *testing.T) {
	b := lettered(t)
	get := func(channel uint16) uint32 {
		r := b.Apply(1, amqp.Command{Method: amqp.BasicGet, Channel: channel, Queue: 2})
		if r.Kind != amqp.GetOK {
			t.Fatalf("%v", r)
		}
		return r.Letter
	}
	const acked, settled, sent, ready = 1, 2, 3, 4
	kept := make(map[int]uint32)
	dead(t, b, 1)
	kept[acked] = get(1)
	dead(t, b, 2)
	kept[settled] = get(2)
	b.Apply(1, amqp.Command{Method: amqp.BasicAck, Channel: 2, Number: 1})
	b.Apply(1, amqp.Command{Method: amqp.BasicConsume, Channel: 2, Queue: 2, Number: 7})
	dead(t, b, 3)
	kept[sent] = b.conns[0].outbox[0].Letter
	b.Apply(1, amqp.Command{Method: amqp.BasicCancel, Channel: 2, Number: 7})
	of := func(which int) string {
		l, ok := b.Letter(kept[which])
		if !ok || len(l.Deaths) != 1 {
			t.Fatalf("%d: %v %v", which, l, ok)
		}
		d := l.Deaths[0]
		return fmt.Sprint(l.Exchange, l.Key, d.Queue, d.Exchange, d.Key, d.Reason, d.First, d.Count, d.At)
	}
	said := map[int]string{acked: of(acked), settled: of(settled), sent: of(sent)}
	if want := "baaexpired true 1 1"; said[acked] != want {
		t.Errorf("got %s, want %s", said[acked], want)
	}
	purge := amqp.Command{Method: amqp.QueuePurge, Channel: 1, Queue: 2}
	for n := range uint64(4000) {
		if dead(t, b, 10+n); n == 0 {
			kept[ready] = b.queues[2].ready.front().letter
			said[ready] = of(ready)
			b.Apply(1, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: 3})
		} else if n%1500 == 0 {
			first := b.queues[2].ready.front().message
			b.Apply(1, purge)
			b.queues[2].ready.push(first)
		}
	}
	for which, was := range said {
		if now := of(which); now != was {
			t.Errorf("%d: it says %s after it said %s", which, now, was)
		}
	}
	if n := len(b.mail.letters); n < 1024 || n > 3500 {
		t.Errorf("%d letters are kept", n)
	}
	if got := len(b.mail.numbers) + len(b.mail.free) + 1; got != len(b.mail.letters) {
		t.Errorf("%d letters have a number or are free, of %d", got, len(b.mail.letters))
	}
}

// TestLetterOfNone: a message that a client has published has the number 0 and no routing data.
func TestLetterOfNone(t *testing.T) {
	if l, ok := New(new(amqp.Names), Options{}).Letter(0); ok || l.Deaths != nil {
		t.Errorf("got %v", l)
	}
}

// TestReasons: reasons have the names that RabbitMQ uses in x-death.
func TestReasons(t *testing.T) {
	if got := fmt.Sprint(Expired, MaxLen, Rejected); got != "expired maxlen rejected" {
		t.Errorf("got %s", got)
	}
}

// TestNotStored: encoding a broker with dead letters or priorities panics, since a state has no form for these.
func TestNotStored(t *testing.T) {
	b := lettered(t)
	expectPanic(t, "broker: dead letters are not stored", func() { parted(b) })
	b = fuzzed(Options{})
	b.Apply(1, amqp.Command{Method: amqp.TxSelect, Channel: 1})
	b.Apply(1, amqp.Command{Method: amqp.BasicPublish, Channel: 1, Queue: 1, Priority: 1})
	expectPanic(t, "broker: priorities are not stored", func() { parted(b) })
}

func expectPanic(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}()
	do()
}
