package broker

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/pinned"
)

var rewrite = flag.Bool("rewrite", false, "take what brokers did as it is")

// TestPinned holds against a file what brokers do with random commands of several connections, sensible ones and others:
// every reply and delivery, the state after it, and its parts as they are kept.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, opts := range []Options{{}, {RoutedAtPublish: true}, {ConsumerTimeout: 7, SuccessorServed: true, Four: true}} {
		for name, methods := range [...][]amqp.Method{nil, everyday, storable, givenBack, slices.Concat(everyday, exchanging, exchanging)} {
			for seed := range uint64(3) {
				f.Block(fmt.Sprintf("commands %d, routed at publish %v, consumer timeout %d", name, opts.RoutedAtPublish, opts.ConsumerTimeout), 60, func(i int, s *pinned.Seen) {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					commands(r, methods, fuzzed(opts), s)
				})
			}
		}
	}
	f.Compare("testdata/pinned.txt", *rewrite)
}

// exchanging are the methods of exchanges.
var exchanging = []amqp.Method{
	amqp.ExchangeDeclare, amqp.ExchangeDelete, amqp.ExchangeBind, amqp.ExchangeUnbind, amqp.QueueBind, amqp.QueueBind, amqp.QueueUnbind, amqp.BasicPublish,
	amqp.BasicPublish, amqp.ExchangeDeclare,
}

// commands does 60 things with a broker, in one of two ways: whatever they are, or such as make sense most of the time.
func commands(r *rand.Rand, methods []amqp.Method, b *Broker, s *pinned.Seen) {
	parts := slices.Equal(methods, storable) // nothing else is kept in parts
	for range 60 {
		switch k := r.IntN(20); {
		case methods == nil || k == 0 && !parts:
			reply, sent := operate(b, [opSize]byte(randomOps(r, 1)))
			s.Printf("%v %v ", reply, sent)
			for _, d := range sent {
				s.Printf("%v ", d)
			}
		case k < 3:
			b.Advance(int64(r.IntN(8)))
		default:
			conn, cmd := sensible(r, methods, b)
			reply := b.Apply(conn, cmd)
			s.Count(reply.Kind.String())
			s.Printf("%v %v ", cmd, reply)
			if reply.Closed() {
				s.Count(reply.Code.String())
			}
		}
		tell(b, s, r)
		if parts {
			keep(b, s)
		}
	}
}

// sensible is a command on a channel that is open, if it opens none.
func sensible(r *rand.Rand, methods []amqp.Method, b *Broker) (Conn, amqp.Command) {
	conn := Conn(1 + r.IntN(2))
	for !b.Alive(conn) {
		b.Connect()
	}
	cmd := decode([opSize]byte(randomOps(r, 1)))
	cmd.Method, cmd.Queue, cmd.Channel = methods[r.IntN(len(methods))], amqp.Queue(1+r.IntN(2)), uint16(1+r.IntN(2))
	if r.IntN(40) == 0 {
		cmd.Queue = 3 // a name that clients must not use
	}
	cmd.Route = 0
	if ch := b.channel(at{conn, cmd.Channel}); ch != nil && len(ch.unacked) == 0 && (cmd.Method == amqp.BasicAck || cmd.Method == amqp.BasicNack) && r.IntN(8) > 0 {
		cmd.Method = amqp.BasicPublish // there is nothing to settle
	}
	if cmd.Method == amqp.QueueDeclare && b.Exists(cmd.Queue) && r.IntN(4) > 0 {
		cmd.Method = amqp.BasicPublish
	}
	if slices.Contains(exchanging, cmd.Method) && r.IntN(4) > 0 {
		cmd.Route = amqp.Route(r.IntN(routes + 1))
	}
	if r.IntN(4) > 0 {
		if cmd.Method != amqp.QueueDeclare {
			cmd.Args = amqp.Arguments{}
		}
		cmd.Flags &= amqp.NoAck | amqp.Persistent | amqp.Mandatory | amqp.Multiple | amqp.Requeue
	}
	if r.IntN(8) > 0 && !b.Exists(cmd.Queue) && cmd.Route == 0 {
		cmd.Method, cmd.Flags = amqp.QueueDeclare, cmd.Flags&amqp.Exclusive
	}
	if ch := b.channel(at{conn, cmd.Channel}); ch == nil || ch.state != open {
		cmd.Method = amqp.ChannelOpen
	}
	if slices.Equal(methods, storable) {
		cmd = storableCommand(cmd)
	}
	return conn, cmd
}

// tell is all that can be seen of a broker.
func tell(b *Broker, s *pinned.Seen, r *rand.Rand) {
	s.Write(b.AppendState(nil))
	next, some := b.NextTimer()
	s.Printf("|%d %v %d %v %x", next, some, b.Now(), b.Settled(), b.AppendMessages(nil))
	for q := range amqp.Queue(4) {
		s.Printf(" %v %d %d", b.Exists(q), b.Owner(q), b.Depth(q))
	}
	for _, name := range []string{"x", "y", "amq.direct"} {
		e, ok := b.Exchange(name)
		s.Printf(" %v %v", e, ok)
	}
	tellQueues(b, s)
	conn := Conn(1 + r.IntN(3))
	if d, some := b.Delivery(Conn(r.IntN(5))); some {
		s.Printf(" first %v", d)
		if l, known := b.Letter(d.Letter); known {
			s.Printf(" %+v", l)
		}
	}
	if b.Alive(conn) {
		s.Printf(" owns %v, broken %v %v", b.Owns(conn), b.Broken(conn, 1), b.Broken(conn, 2))
		for _, d := range b.Deliveries(conn, nil) {
			s.Count("delivered")
			s.Printf(" %v", d)
		}
	}
}

// tellQueues is what can be asked of queues, of all of them and of the first of each.
func tellQueues(b *Broker, s *pinned.Seen) {
	for q := range amqp.Queue(4) {
		flags, args := b.Declared(q)
		s.Printf(" %v %+v", flags, args)
		for m := range b.Messages(q) {
			s.Printf(" %v", m)
		}
		for m := range b.Messages(q) {
			s.Printf(" first %v", m)
			break
		}
		for c := range b.Consumers(q) {
			s.Printf(" %+v", c)
		}
		for c := range b.Consumers(q) {
			s.Printf(" first %v", c)
			break
		}
	}
	for c := range Conn(4) {
		s.Printf(" %v", b.Holds(c))
	}
	s.Printf(" %d late", b.Late())
}

// keep is a broker in parts, as a search keeps it.
func keep(b *Broker, s *pinned.Seen) {
	c := codec.Write(nil)
	b.CodeCommon(&c)
	for i := range b.conns {
		if conn := Conn(i + 1); b.Alive(conn) {
			b.CodeConnection(&c, conn)
			b.CodeOwned(&c, conn)
		}
	}
	s.Write(c.Bytes())
}
