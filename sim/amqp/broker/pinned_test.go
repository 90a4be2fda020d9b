package broker

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/codec"
)

var rewrite = flag.Bool("rewrite", false, "take what brokers did as it is")

// TestPinned compares brokers under random commands of several connections with a file, sensible commands and others:
// every reply and delivery, the state after it, and its stored parts.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, opts := range []Options{{}, {RoutedAtPublish: true}, {ConsumerTimeout: 7, SuccessorServed: true, Four: true}} {
		for name, methods := range [...][]amqp.Method{nil, everyday, storable, givenBack, slices.Concat(everyday, exchanging, exchanging)} {
			for seed := range uint64(4) {
				f.Block(fmt.Sprintf("commands %d, routed at publish %v, consumer timeout %d", name, opts.RoutedAtPublish, opts.ConsumerTimeout), 60, func(i int, s *pinned.Seen) {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					commands(r, methods, fuzzed(opts), s)
				})
			}
		}
	}
	for _, opts := range []Options{{}, {SuccessorServed: true, Four: true}} {
		for seed := range uint64(10) {
			f.Block(fmt.Sprintf("rare arguments, successor served %v", opts.SuccessorServed), 100, func(i int, s *pinned.Seen) {
				rareCommands(rand.New(rand.NewPCG(seed, uint64(i))), fuzzed(opts), s, rarely)
			})
		}
	}
	for seed := range uint64(10) {
		f.Block("quorum queues", 100, func(i int, s *pinned.Seen) {
			rareCommands(rand.New(rand.NewPCG(seed, uint64(i))), fuzzed(Options{}), s, quorate)
		})
	}
	f.Compare("testdata/pinned.txt", *rewrite)
}

// exchanging are the methods of exchanges.
var exchanging = []amqp.Method{
	amqp.ExchangeDeclare, amqp.ExchangeDelete, amqp.ExchangeBind, amqp.ExchangeUnbind, amqp.QueueBind, amqp.QueueBind, amqp.QueueUnbind, amqp.BasicPublish,
	amqp.BasicPublish, amqp.ExchangeDeclare,
}

// commands runs 60 random commands on a broker: any commands, or mostly sensible ones.
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

// rareCommands does 80 things with queues that have dead letters, priorities, bounds or a single active consumer: with
// what declared gives their declarations.
func rareCommands(r *rand.Rand, b *Broker, s *pinned.Seen, declared func(*rand.Rand, *amqp.Command)) {
	for kind := range 4 { // x leads to the first two queues, or to one of them
		on := amqp.Command{Method: amqp.ExchangeDeclare, Channel: 1, Route: b.names.InternRoute(amqp.Routing{Exchange: "x", Type: pick(r, "fanout", "direct")})}
		if kind > 0 {
			on = amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: amqp.Queue(kind)}
			declared(r, &on)
		}
		s.Printf("%v ", b.Apply(1, on))
	}
	for kind := range 2 {
		to := b.names.InternRoute(amqp.Routing{Exchange: "x", Key: pick(r, "k", "a")})
		s.Printf("%v ", b.Apply(1, amqp.Command{Method: amqp.QueueBind, Channel: 1, Queue: amqp.Queue(1 + kind), Route: to}))
	}
	for n := range uint64(80) {
		conn, on := Conn(1+r.IntN(2)), amqp.Command{Channel: uint16(1 + r.IntN(2)), Queue: amqp.Queue(1 + r.IntN(2)), Number: n}
		for !b.Alive(conn) {
			b.Connect()
		}
		ch := b.channel(at{conn, on.Channel})
		settle := func(flags amqp.Flags) {
			on.Method, on.Flags, on.Number = amqp.BasicNack, flags, ch.tag+uint64(r.IntN(50)/49) // hardly ever one that is not there
			if len(ch.unacked) > 0 {
				on.Number = ch.unacked[r.IntN(len(ch.unacked))].tag
			}
		}
		switch k := r.IntN(36); {
		case ch == nil || ch.state != open:
			on.Method = amqp.ChannelOpen
		case k == 20:
			on.Method, on.Number = amqp.BasicQos, uint64(1+r.IntN(2)) // what is ready waits for the active consumer
		case k < 2:
			s.Printf("%v ", b.Advance(int64(r.IntN(4))))
		case k == 2 && r.IntN(4) == 0:
			b.Restart()
		case k == 2:
			b.Apply(conn, amqp.Command{Method: amqp.QueueDelete, Channel: on.Channel, Queue: on.Queue})
			on.Method = amqp.QueueDeclare
			declared(r, &on)
		case k < 6 && len(ch.unacked) > 0:
			settle(pick(r, 0, amqp.Multiple))
		case k < 8 && len(ch.unacked) > 0:
			settle(pick(r, amqp.Requeue, amqp.Requeue|amqp.Multiple))
		case k == 8 && ch.tag > 0:
			settle(0)
			on.Method = amqp.BasicAck
		case k < 11:
			on.Method = amqp.BasicGet
		case k < 15:
			on.Method, on.Priority, on.Flags = amqp.BasicConsume, int16(r.IntN(3)-1), pick(r, 0, 0, amqp.NoAck)
		case k < 18:
			on.Method = amqp.BasicCancel
			for _, c := range b.queues[on.Queue].consumers {
				if c.on == (at{conn, on.Channel}) {
					on.Number = c.number
				}
			}
		default:
			on.Method, on.Priority, on.Flags = amqp.BasicPublish, int16(r.IntN(4)), pick(r, 0, amqp.Persistent)
			if r.IntN(3) == 0 {
				on.Flags, on.Expiration = on.Flags|amqp.Expiring, uint32(r.IntN(4))
			}
			if r.IntN(4) == 0 {
				on.Route = b.names.InternRoute(amqp.Routing{Exchange: "x", Key: "k"})
			}
		}
		if on.Method != 0 {
			reply := b.Apply(conn, on)
			s.Count(reply.Kind.String())
			s.Printf("%v %v ", on, reply)
		}
		tell(b, s, r)
		b.tellLetters(s)
	}
}

// rarely gives the declaration of a queue arguments that few have.
func rarely(r *rand.Rand, on *amqp.Command) {
	for _, has := range []amqp.ArgumentSet{amqp.HasMessageTTL, amqp.HasMaxLength, amqp.HasMaxPriority, amqp.HasDeadLetterExchange, amqp.HasDeadLetterExchange | amqp.HasDeadLetterKey, amqp.SingleActive} {
		if r.IntN(3) == 0 {
			on.Args.Has |= has
		}
	}
	if on.Args.Has&amqp.HasMessageTTL != 0 {
		on.Args.MessageTTL = uint32(r.IntN(5))
	}
	if on.Args.Has&amqp.HasMaxLength != 0 {
		on.Args.MaxLength, on.Args.Overflow = uint32(1+r.IntN(3)), pick(r, amqp.DropHead, amqp.RejectPublish, amqp.RejectPublishDLX)
	}
	if on.Args.Has&amqp.HasMaxPriority != 0 {
		on.Args.MaxPriority = uint8(1 + r.IntN(3))
	}
	on.Flags, on.Route = pick(r, 0, amqp.Durable), amqp.Route(r.IntN(routes+1))
}

// quorate gives it those that quorum queues have, for most of them.
func quorate(r *rand.Rand, on *amqp.Command) {
	rarely(r, on)
	on.Args.Has |= pick(r, amqp.Quorum, amqp.Quorum, amqp.Quorum, 0)
	on.Args.Has &^= pick(r, amqp.HasMaxPriority, amqp.HasMaxPriority, amqp.HasMaxPriority, amqp.HasMaxPriority, 0)
	on.Args.Overflow = pick(r, amqp.DropHead, amqp.DropHead, amqp.DropHead, on.Args.Overflow)
	if r.IntN(2) == 0 {
		on.Args.Has, on.Args.DeliveryLimit = on.Args.Has|amqp.HasDeliveryLimit, uint32(r.IntN(3))
	}
	on.Flags = pick(r, amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable, on.Flags)
}

// tellLetters is what is said of the messages of all queues.
func (b *Broker) tellLetters(s *pinned.Seen) {
	if b.mail == nil {
		return
	}
	for i := range b.queues {
		l := &b.queues[i].ready
		for _, run := range l.runs[l.head:] {
			if of, known := b.Letter(run.letter); known {
				s.Count("letters")
				s.Printf(" %+v", of)
			}
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
