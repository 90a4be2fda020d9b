package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/codec"
)

// TestPinned compares the behaviour of brokers under random commands of several connections with a file. For the first
// input of some blocks the file has every command, every reply, and the queues at the end.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for _, opts := range []Options{{}, {RoutedAtPublish: true}, {ConsumerTimeout: 7, SuccessorServed: true, Four: true}} {
		for _, methods := range []struct {
			name string
			of   []amqp.Method
		}{{"any", nil}, {"everyday", everyday}, {"storable", storable}, {"returning", givenBack}, {"exchanging", slices.Concat(everyday, exchanging, exchanging)}} {
			f.Block(fmt.Sprintf("%s commands, routed at publish %v, consumer timeout %d", methods.name, opts.RoutedAtPublish, opts.ConsumerTimeout), 240, func(i int, s *pinned.Seen) {
				r := rand.New(rand.NewPCG(uint64(i/60), uint64(i%60)))
				commands(r, methods.of, fuzzed(opts), begin(s, i == 0 && opts == Options{}))
			})
		}
	}
	for _, c := range []struct {
		title    string
		opts     Options
		declared func(*rand.Rand, *amqp.Command)
	}{{"rare arguments", Options{}, rarely}, {"rare arguments of version 4", Options{SuccessorServed: true, Four: true}, rarely}, {"quorum queues", Options{}, quorate}} {
		f.Block(c.title, 1000, func(i int, s *pinned.Seen) {
			rareCommands(rand.New(rand.NewPCG(uint64(i/100), uint64(i%100))), fuzzed(c.opts), begin(s, i == 0), c.declared)
		})
	}
	f.Compare("testdata/pinned.txt")
}

// notes writes what a broker does to the file.
type notes struct {
	*pinned.Seen
	tell func(format string, args ...any) // writes commands and replies
}

func begin(s *pinned.Seen, shown bool) notes {
	if shown {
		return notes{s, s.Rowf}
	}
	return notes{s, s.Printf}
}

// reply writes a command and its reply.
func (n notes) reply(b *Broker, conn Conn, cmd amqp.Command, reply amqp.Reply) {
	n.Count(reply.Kind.String())
	if reply.Closed() {
		n.Count(reply.Code.String())
	}
	n.tell("%d.%d %s → %s", conn, cmd.Channel, cmd.Words(b.names), reply)
	n.Printf("%d %v", reply.Deliveries, reply.Redelivered)
	n.letter(b, reply.Letter)
}

// delivered writes a delivery.
func (n notes) delivered(b *Broker, d amqp.Delivery) {
	n.Count("delivered")
	n.tell("  %s to consumer %d", d.Words(), d.Consumer)
	n.Printf("%d %d %v", d.Channel, d.Deliveries, d.Redelivered)
	n.letter(b, d.Letter)
}

// exchanging are the methods that concern exchanges and bindings.
var exchanging = []amqp.Method{
	amqp.ExchangeDeclare, amqp.ExchangeDelete, amqp.ExchangeBind, amqp.ExchangeUnbind, amqp.QueueBind, amqp.QueueBind, amqp.QueueUnbind, amqp.BasicPublish,
	amqp.BasicPublish, amqp.ExchangeDeclare,
}

// occurrences are the operations of [operate] that are not commands.
var occurrences = [...]string{"beginning", "end", "a channel's end", "restart", "time", "time", "time", "deliveries"}

// commands executes 60 random commands on a broker and writes the results. If methods is nil, it executes any commands,
// otherwise mostly sensible ones.
func commands(r *rand.Rand, methods []amqp.Method, b *Broker, n notes) {
	parts := slices.Equal(methods, storable) // the file has the sizes of encoded parts only for these
	for range 60 {
		switch k := r.IntN(20); {
		case methods == nil || k == 0 && !parts:
			op := [opSize]byte(randomOps(r, 1))
			reply, sent := operate(b, op)
			if k := op[0] % 32; int(k) < len(occurrences) {
				n.tell("%s of connection %d", occurrences[k], op[1]%4)
			} else {
				n.reply(b, Conn(op[1]%4), decode(op), reply)
			}
			for _, d := range sent {
				n.delivered(b, d)
			}
		case k < 3:
			b.Advance(int64(r.IntN(8)))
		default:
			conn, cmd := sensible(r, methods, b)
			n.reply(b, conn, cmd, b.Apply(conn, cmd))
		}
		n.state(b, r)
		if parts {
			n.Add("bytes of parts", len(parted(b)))
		}
	}
	n.queues(b)
}

// rareCommands executes 80 random commands on queues that have dead letters, priorities, bounds or a single active
// consumer. declared adds arguments to the declarations of the queues.
func rareCommands(r *rand.Rand, b *Broker, n notes, declared func(*rand.Rand, *amqp.Command)) {
	for kind := range 4 { // exchange x routes to the first two queues, or to one of them
		on := amqp.Command{Method: amqp.ExchangeDeclare, Channel: 1, Route: b.names.InternRoute(amqp.Routing{Exchange: "x", Type: pick(r, "fanout", "direct")})}
		if kind > 0 {
			on = amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Queue: amqp.Queue(kind)}
			declared(r, &on)
		}
		n.reply(b, 1, on, b.Apply(1, on))
	}
	for kind := range 2 {
		to := b.names.InternRoute(amqp.Routing{Exchange: "x", Key: pick(r, "k", "a")})
		bind := amqp.Command{Method: amqp.QueueBind, Channel: 1, Queue: amqp.Queue(1 + kind), Route: to}
		n.reply(b, 1, bind, b.Apply(1, bind))
	}
	for number := range uint64(80) {
		conn, on := Conn(1+r.IntN(2)), amqp.Command{Channel: uint16(1 + r.IntN(2)), Queue: amqp.Queue(1 + r.IntN(2)), Number: number}
		for !b.Alive(conn) {
			b.Connect()
		}
		ch := b.channel(at{conn, on.Channel})
		settle := func(flags amqp.Flags) {
			on.Method, on.Flags, on.Number = amqp.BasicNack, flags, ch.tag+uint64(r.IntN(50)/49) // rarely unknown
			if len(ch.unacked) > 0 {
				on.Number = ch.unacked[r.IntN(len(ch.unacked))].tag
			}
		}
		switch k := r.IntN(36); {
		case ch == nil || ch.state != open:
			on.Method = amqp.ChannelOpen
		case k == 20:
			on.Method, on.Number = amqp.BasicQos, uint64(1+r.IntN(2)) // messages then wait for the active consumer
		case k < 2:
			n.tell("time passes: %v", b.Advance(int64(r.IntN(4))))
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
			n.reply(b, conn, on, b.Apply(conn, on))
		}
		n.state(b, r)
		n.letters(b)
	}
	n.queues(b)
}

// rarely adds arguments that few queues have to a queue.declare.
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

// quorate adds arguments to a queue.declare, most of which are allowed for quorum queues.
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

// letters writes the routing data of all ready messages.
func (n notes) letters(b *Broker) {
	if b.mail == nil {
		return
	}
	for i := range b.queues {
		l := &b.queues[i].ready
		for _, run := range l.runs[l.head:] {
			n.letter(b, run.letter)
		}
	}
}

// letter writes the routing data with the given number, and why the message is a dead letter.
func (n notes) letter(b *Broker, number uint32) {
	l, known := b.Letter(number)
	if !known {
		return
	}
	n.Count("letters")
	n.Printf(" %s %s", l.Exchange, l.Key)
	for _, d := range l.Deaths {
		n.Printf(" %s %s %s %s %v %d at %d", d.Reason, d.Queue, d.Exchange, d.Key, d.First, d.Count, d.At)
	}
}

// sensible returns a random command. If its channel is not open, the command opens it.
func sensible(r *rand.Rand, methods []amqp.Method, b *Broker) (Conn, amqp.Command) {
	conn := Conn(1 + r.IntN(2))
	for !b.Alive(conn) {
		b.Connect()
	}
	cmd := decode([opSize]byte(randomOps(r, 1)))
	cmd.Method, cmd.Queue, cmd.Channel = methods[r.IntN(len(methods))], amqp.Queue(1+r.IntN(2)), uint16(1+r.IntN(2))
	if r.IntN(40) == 0 {
		cmd.Queue = 3 // a reserved name, which clients must not use
	}
	cmd.Route = 0
	if ch := b.channel(at{conn, cmd.Channel}); ch != nil && len(ch.unacked) == 0 && (cmd.Method == amqp.BasicAck || cmd.Method == amqp.BasicNack) && r.IntN(8) > 0 {
		cmd.Method = amqp.BasicPublish // the channel has no message to settle
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

// state writes what can be observed of a broker between commands.
func (n notes) state(b *Broker, r *rand.Rand) {
	n.Add("bytes of states", len(b.AppendState(nil)))
	next, some := b.NextTimer()
	n.Printf("|%d %v %d %v %d late", next, some, b.Now(), b.Settled(), b.Late())
	for _, name := range []string{"x", "y", "amq.direct"} {
		e, ok := b.Exchange(name)
		n.Printf(" %s %v %v %v %s %v", e.Type, e.Durable, e.AutoDelete, e.Internal, e.Alternate, ok)
	}
	for q := range amqp.Queue(4) {
		n.Printf("%s", inWords(b, q))
	}
	for c := range Conn(4) {
		n.Printf(" %v", b.Holds(c))
	}
	conn := Conn(1 + r.IntN(3))
	if d, some := b.Delivery(Conn(r.IntN(5))); some {
		n.Printf(" first %s", d.Words())
		n.letter(b, d.Letter)
	}
	if b.Alive(conn) {
		n.Printf(" owns %v, broken %v %v", b.Owns(conn), b.Broken(conn, 1), b.Broken(conn, 2))
		for _, d := range b.Deliveries(conn, nil) {
			n.delivered(b, d)
		}
	}
}

// queues writes a description of each existing queue.
func (n notes) queues(b *Broker) {
	for q := range amqp.Queue(4) {
		if b.Exists(q) {
			n.tell("%s", inWords(b, q))
		}
	}
}

// inWords describes all that can be observed of a queue.
func inWords(b *Broker, q amqp.Queue) string {
	if !b.Exists(q) {
		return fmt.Sprintf("no queue %s", b.names.Name(q))
	}
	flags, args := b.Declared(q)
	text := fmt.Sprintf("queue %s%s, owner %d, %d messages:", b.names.Name(q), flags.Words(amqp.Durable, amqp.Exclusive, amqp.AutoDelete), b.Owner(q), b.Depth(q))
	for m := range b.Messages(q) {
		if text += fmt.Sprintf(" %d", m.Message); m.Conn > 0 {
			text += fmt.Sprintf(" (%d.%d has it as %d)", m.Conn, m.Channel, m.Tag)
		}
	}
	for c := range b.Consumers(q) {
		text += fmt.Sprintf("; consumer of %d.%d, exclusive %v, waits %v", c.Conn, c.Channel, c.Exclusive, c.Waits)
	}
	return text + fmt.Sprintf("; arguments %b: %d, %d, %d, %d, %d, %d", args.Has, args.MaxPriority, args.Overflow, args.MaxLength, args.Expires, args.MessageTTL, args.DeliveryLimit)
}

// parted returns the encoded parts of a broker, as a search stores them.
func parted(b *Broker) []byte {
	c := codec.Write(nil)
	b.CodeCommon(&c)
	for i := range b.conns {
		if conn := Conn(i + 1); b.Alive(conn) {
			b.CodeConnection(&c, conn)
			b.CodeOwned(&c, conn)
		}
	}
	return c.Bytes()
}
