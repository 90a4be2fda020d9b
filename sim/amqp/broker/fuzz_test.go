package broker

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
)

// routes is the number of different routings (exchange, key and headers) in these tests.
const routes = 30

// opSize is the number of bytes that encode one operation on a broker.
const opSize = 8

// operate decodes an operation and executes it. It returns the broker's reply and deliveries.
func operate(b *Broker, op [opSize]byte) (r amqp.Reply, sent []amqp.Delivery) {
	c := Conn(op[1] % 4)
	switch op[0] % 32 {
	case 0:
		if b.Alive(3) { // three connections are enough
			return r, nil
		}
		r.Number = uint64(b.Connect())
	case 1:
		b.Disconnect(c)
	case 2:
		b.CloseChannel(c, uint16(op[2]%4), amqp.InternalError)
	case 3:
		b.Restart()
	case 4, 5, 6:
		b.Advance(int64(op[2] % 8))
	case 7:
		sent = b.Deliveries(c, nil)
	default:
		r = b.Apply(c, decode(op))
	}
	return r, sent
}

// decode returns the command that the bytes of an operation encode.
func decode(op [opSize]byte) amqp.Command {
	return amqp.Command{
		Method: amqp.Method(op[0] % 27), Route: amqp.Route(op[5] >> 2 % (routes + 1)), Channel: uint16(op[2] % 4), Queue: amqp.Queue(op[2] >> 2 % 4),
		Flags: amqp.Flags(op[3]) | amqp.Flags(op[4])<<8&0x1f00, Number: uint64(op[5] % 4), Expiration: uint32(op[4] >> 5), Priority: int16(op[7] >> 6),
		Args: amqp.Arguments{
			Has: amqp.ArgumentSet(op[6]&0x0f&(op[6]>>4)) | rareArguments[op[4]>>5], MaxPriority: op[7] >> 6,
			Overflow:  amqp.Overflow(op[7] % 3),
			MaxLength: uint32(op[7] >> 1 & 3), Expires: uint32(op[7] >> 3 & 7), MessageTTL: uint32(op[7] >> 6),
		},
	}
}

// rareArguments are sets of arguments that few queues have.
var rareArguments = [8]amqp.ArgumentSet{
	0, 0, amqp.SingleActive, amqp.HasMaxPriority, amqp.HasDeadLetterExchange, amqp.HasDeadLetterExchange | amqp.HasDeadLetterKey,
	amqp.HasMaxPriority | amqp.HasDeadLetterExchange, amqp.HasDeadLetterKey,
}

func fuzzed(opts Options) *Broker {
	names := new(amqp.Names)
	for _, name := range []string{"a", "b", "amq.c"} {
		names.Intern(name)
	}
	for n := range routes {
		names.InternRoute(amqp.Routing{
			Exchange: []string{"", "amq.direct", "x", "y", "z", "", "amq.e", "x", "y", "z"}[n%10], Destination: []string{"", "x", "y"}[n%3],
			Type: []string{"direct", "topic", "fanout", "headers"}[n/5%4], Alternate: []string{"", "x"}[n/15%2], Key: []string{"", "k", "a", "b"}[n/7%4],
		})
	}
	b := New(names, opts)
	for range 2 {
		c := b.Connect()
		b.Apply(c, amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
	}
	return b
}

// FuzzApply executes arbitrary operations on a broker. The broker never panics, its data stay consistent, and a copy of
// the broker behaves in the same way.
func FuzzApply(f *testing.F) {
	random := rand.NewPCG(1, 2)
	for range 50 {
		f.Add(randomOps(rand.New(random), 40))
		f.Add(append(randomOps(rand.New(random), 40), 0))
		f.Add(append(randomOps(rand.New(random), 80), 0, 0))
		f.Add(append(randomOps(rand.New(random), 80), 0, 0, 0))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		b, copied := fuzzed(Options{RoutedAtPublish: len(ops)%2 == 1, SuccessorServed: len(ops)%4 > 1, ConsumerTimeout: int64(len(ops) % 3 * 4)}), new(Broker)
		if len(ops)/2%2 == 1 {
			declareQuorum(b, len(ops))
		}
		for len(ops) >= opSize {
			op := [opSize]byte(ops)
			ops = ops[opSize:]
			copied.CopyFrom(b)
			expectSame(t, b, copied, op)
			b.expectConsistent(t)
		}
		b.Reset()
		if fresh := New(b.names, b.opts); !b.Equal(fresh) || b.Now() != 0 {
			t.Error("a broker that was reset is not as new")
		}
	})
}

// declareQuorum declares the first queue as a quorum queue, with arguments that depend on kind.
func declareQuorum(b *Broker, kind int) {
	args := amqp.Arguments{Has: amqp.Quorum | []amqp.ArgumentSet{0, amqp.HasDeliveryLimit, amqp.SingleActive, amqp.HasMaxLength}[kind/4%4], DeliveryLimit: 1, MaxLength: 2}
	b.Apply(1, amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: 1, Flags: amqp.Durable, Args: args})
}

func randomOps(r *rand.Rand, n int) []byte {
	ops := make([]byte, n*opSize)
	for i := range ops {
		ops[i] = byte(r.Uint32())
	}
	return ops
}

// expectSame executes one operation on two equal brokers, and expects equal replies and brokers that stay equal.
func expectSame(t *testing.T, b, o *Broker, op [opSize]byte) {
	t.Helper()
	if !b.Equal(o) || !bytes.Equal(b.AppendState(nil), o.AppendState(nil)) {
		t.Fatalf("not equal before %v", op)
	}
	r1, d1 := operate(b, op)
	r2, d2 := operate(o, op)
	r1.Letter, r2.Letter, d1, d2 = 0, 0, unnumbered(d1), unnumbered(d2)
	if r1 != r2 || len(d1) != len(d2) {
		t.Fatalf("%v: %+v %+v, and the other %+v %+v", decode(op), r1, d1, r2, d2)
	}
	for i := range d1 {
		if d1[i] != d2[i] {
			t.Fatalf("%v: %+v, and the other %+v", decode(op), d1, d2)
		}
	}
	if !b.Equal(o) || !bytes.Equal(b.AppendState(nil), o.AppendState(nil)) {
		t.Fatalf("not equal after %v", op)
	}
}

// expectConsistent checks the invariants of a broker's data.
func (b *Broker) expectConsistent(t *testing.T) {
	t.Helper()
	unacked := make([]int, max(1, len(b.queues))) // by queue; entry 0 counts messages of deleted queues
	for i := range b.conns {
		for n := range b.conns[i].channels {
			ch := &b.conns[i].channels[n]
			if ch.state != open && len(ch.unacked)+len(ch.tx.settled)+len(ch.tx.publishes) > 0 {
				t.Fatalf("channel %d of connection %d is not open and holds messages", n, i+1)
			}
			if len(ch.unacked) > 0 && !b.awaits {
				t.Fatalf("nobody looks at what channel %d of connection %d acknowledges late", n, i+1)
			}
			for _, d := range append(append([]delivered(nil), ch.unacked...), ch.tx.settled...) {
				unacked[d.queue]++
			}
		}
	}
	for id := range b.queues {
		q := &b.queues[id]
		if id > 0 && q.unacked != unacked[id] {
			t.Fatalf("queue %d: %d unacknowledged, channels have %d", id, q.unacked, unacked[id])
		}
		if !q.exists && (q.queueRecord != queueRecord{} || q.ready.depth > 0 || len(q.consumers) > 0) {
			t.Fatalf("queue %d does not exist and is not empty", id)
		}
		q.expectConsistent(t, id)
		for _, c := range q.consumers {
			if ch := b.channel(c.on); !b.Alive(c.on.conn) || ch == nil || ch.state != open {
				t.Fatalf("queue %d: a consumer without a channel: %+v", id, c)
			}
		}
	}
	if next, some := b.NextTimer(); some && next <= b.now {
		t.Fatalf("something was due at %d, now is %d", next, b.now)
	}
}

func (q *queue) expectConsistent(t *testing.T, id int) {
	t.Helper()
	depth, last, priority := 0, uint64(0), uint8(math.MaxUint8)
	for _, r := range q.ready.runs[q.ready.head:] {
		if r.priority < priority {
			last, priority = 0, r.priority
		}
		if r.count == 0 || r.priority > priority || r.position < last || r.end() > q.next {
			t.Fatalf("queue %d: messages out of order: %+v", id, q.ready)
		}
		depth, last = depth+int(r.count), r.end()
	}
	if depth != q.ready.depth {
		t.Fatalf("queue %d: %d messages counted as %d", id, depth, q.ready.depth)
	}
	q.expectServed(t, id, depth)
	if i := q.active(); q.singleActive() && i < 0 && len(q.consumers) > 0 || i >= 0 && !q.singleActive() {
		t.Fatalf("queue %d: which consumer is the active one? %+v", id, q.consumers)
	}
}

// expectServed checks that no message is ready while a consumer could take it.
func (q *queue) expectServed(t *testing.T, id, depth int) {
	t.Helper()
	able := func(c consumer) bool { return !c.limited || c.credit > 0 }
	for _, c := range q.consumers {
		if depth > 0 && able(c) && !q.singleActive() {
			t.Fatalf("queue %d: a message waits, and so does a consumer that could take it: %+v", id, c)
		}
	}
}

// TestEqualStatesAnswerAlike: brokers with equal encoded states behave in the same way, whatever happened before.
func TestEqualStatesAnswerAlike(t *testing.T) {
	for _, opts := range []Options{{}, {RoutedAtPublish: true}, {ConsumerTimeout: 5}} {
		expectAlike(t, opts)
	}
}

func expectAlike(t *testing.T, opts Options) {
	seen := make(map[string]*Broker)
	met := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		b := fuzzed(opts)
		for range 60 {
			var op [opSize]byte
			copy(op[:], randomOps(random, 1))
			state := string(b.AppendState(nil))
			if o := seen[state]; o == nil {
				o = new(Broker)
				o.CopyFrom(b)
				seen[state] = o
				operate(b, op)
			} else {
				met++
				other := new(Broker)
				other.CopyFrom(o)
				expectSame(t, b, other, op)
			}
		}
	}
	if met < 1000 {
		t.Errorf("only %d states were met twice: that says little", met)
	}
}

// TestDeterminism: the same operations have the same results in new and in reused memory.
func TestDeterminism(t *testing.T) {
	used := fuzzed(Options{})
	for seed := range uint64(100) {
		ops := randomOps(rand.New(rand.NewPCG(seed, 1)), 100)
		fresh := fuzzed(Options{})
		used.CopyFrom(fresh)
		for len(ops) > 0 {
			expectSame(t, fresh, used, [opSize]byte(ops))
			ops = ops[opSize:]
		}
	}
}
