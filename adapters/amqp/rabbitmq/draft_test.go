package rabbitmq_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/model/amqp"
)

// Bounds of the random sequences of commands.
const (
	queues   = 2 // q1 and q2; "amq.q", whose name is reserved, does not count
	channels = 2 // channels of each client
)

var queueNames = []string{"q1", "q2", "amq.q"}

func newNames() *amqp.Names {
	names := new(amqp.Names)
	for _, name := range queueNames {
		names.Intern(name)
	}
	for _, set := range [][]amqp.Routing{declarings, bindings, joinings, publishings, deadLetters} {
		for _, r := range set {
			names.InternRoute(r)
		}
	}
	return names
}

// Exchanges, keys and headers in random commands. x, y and z are the tests' own exchanges; amq.topic exists on every
// broker.
var (
	exchangeNames = []string{"x", "y", "z"}
	keys          = []string{"a", "a.b", "*.b", "#", ""}
	headers       = []amqp.Headers{
		"", amqp.NewHeaders(map[string]string{"h": "1"}), amqp.NewHeaders(map[string]string{"h": amqp.Present, "i": "2", "x-match": "any"}),
	}

	declarings, bindings, joinings, publishings = routings()

	// deadLetters are the targets of dead letters: q1, q2, or an exchange.
	deadLetters = []amqp.Routing{{Key: "q1"}, {Key: "q2"}, {Key: "q2"}, {Exchange: "x", Key: "a"}, {Exchange: "y", Key: "a.b"}}
)

// routings are the exchanges and keys with which random commands declare exchanges, bind queues, bind exchanges, and
// publish.
func routings() (declarings, bindings, joinings, publishings []amqp.Routing) {
	for i, x := range append(exchangeNames, "amq.topic") {
		for k, kind := range []string{"direct", "fanout", "topic", "headers"} {
			declarings = append(declarings, amqp.Routing{Exchange: x, Type: kind, Alternate: []string{"", "", "", "y"}[(i+k)%4]})
		}
		for _, key := range keys {
			for _, h := range headers {
				bindings = append(bindings, amqp.Routing{Exchange: x, Key: key, Headers: h})
				publishings = append(publishings, amqp.Routing{Exchange: x, Key: key, Headers: h})
			}
			for _, to := range exchangeNames {
				joinings = append(joinings, amqp.Routing{Exchange: x, Destination: to, Key: key})
			}
		}
	}
	return declarings, bindings, joinings, publishings
}

// mixes are lists of methods to draw from. A method is repeated to make it more frequent. The simplest come first,
// because shrinking moves towards the first.
var mixes = [][]amqp.Method{
	weighted(
		weight{amqp.QueueDeclare, 16}, weight{amqp.BasicPublish, 24}, weight{amqp.QueueDelete, 2},
		weight{amqp.BasicGet, 8}, weight{amqp.BasicAck, 8}, weight{amqp.BasicNack, 8},
		weight{amqp.BasicConsume, 8}, weight{amqp.BasicCancel, 3}, weight{amqp.BasicQos, 4},
		weight{amqp.ConfirmSelect, 4}, weight{amqp.TxSelect, 3}, weight{amqp.TxCommit, 4}, weight{amqp.TxRollback, 2},
		weight{amqp.QueuePurge, 1}, weight{amqp.QueueBind, 1}, weight{amqp.QueueUnbind, 1}, weight{amqp.ExchangeDeclare, 1},
		weight{amqp.ChannelOpen, 2}, weight{amqp.ChannelClose, 3}, weight{amqp.ConnectionClose, 1}, weight{amqp.NoMethod, 1},
	),
	weighted( // consumers that compete for messages
		weight{amqp.QueueDeclare, 1}, weight{amqp.BasicPublish, 24}, weight{amqp.BasicQos, 6},
		weight{amqp.BasicConsume, 10}, weight{amqp.BasicAck, 14}, weight{amqp.BasicNack, 6}, weight{amqp.BasicGet, 2},
		weight{amqp.BasicCancel, 2}, weight{amqp.ChannelClose, 2},
	),
	weighted( // single active consumers, and consumer priorities
		weight{amqp.QueueDeclare, 3}, weight{amqp.BasicPublish, 20}, weight{amqp.BasicQos, 6}, weight{amqp.BasicConsume, 14},
		weight{amqp.BasicCancel, 6}, weight{amqp.BasicAck, 10}, weight{amqp.BasicNack, 6}, weight{amqp.ChannelClose, 2},
		weight{amqp.QueueDelete, 1}, weight{amqp.BasicGet, 1}, weight{amqp.NoMethod, 1},
	),
	weighted( // dead letters, and messages with priorities
		weight{amqp.QueueDeclare, 6}, weight{amqp.BasicPublish, 24}, weight{amqp.BasicGet, 8}, weight{amqp.BasicNack, 12},
		weight{amqp.BasicAck, 2}, weight{amqp.BasicConsume, 4}, weight{amqp.BasicQos, 2}, weight{amqp.BasicRecover, 2},
		weight{amqp.QueueDelete, 2}, weight{amqp.ExchangeDeclare, 1}, weight{amqp.QueueBind, 2}, weight{amqp.ChannelClose, 2},
		weight{amqp.QueuePurge, 1}, weight{amqp.NoMethod, 1},
	),
	weighted( // transactions
		weight{amqp.QueueDeclare, 6}, weight{amqp.BasicPublish, 24}, weight{amqp.QueueDelete, 3},
		weight{amqp.TxSelect, 8}, weight{amqp.TxCommit, 12}, weight{amqp.TxRollback, 2}, weight{amqp.BasicGet, 4},
		weight{amqp.BasicAck, 6}, weight{amqp.BasicNack, 6}, weight{amqp.ChannelClose, 4}, weight{amqp.ChannelOpen, 4},
	),
	weighted( // exchanges
		weight{amqp.QueueDeclare, 4}, weight{amqp.ExchangeDeclare, 8}, weight{amqp.QueueBind, 12}, weight{amqp.BasicPublish, 24},
		weight{amqp.ExchangeBind, 8}, weight{amqp.QueueUnbind, 3}, weight{amqp.ExchangeUnbind, 3}, weight{amqp.ExchangeDelete, 2},
		weight{amqp.QueueDelete, 2}, weight{amqp.TxSelect, 1}, weight{amqp.TxCommit, 2}, weight{amqp.BasicConsume, 1},
		weight{amqp.BasicCancel, 1}, weight{amqp.ChannelClose, 1}, weight{amqp.NoMethod, 1},
	),
}

type weight struct {
	method amqp.Method
	times  int
}

func weighted(weights ...weight) []amqp.Method {
	var all []amqp.Method
	for _, w := range weights {
		for range w.times {
			all = append(all, w.method)
		}
	}
	return all
}

// draft is a step as drawn. [match.adapt] turns it into the command that is sent, which depends on the state at that
// time.
type draft struct {
	step
	sensible bool // adapt makes the command likely to succeed, for example by declaring the queue first
}

// GoString is the step's line in a transcript, which rapid prints.
func (d draft) GoString() string { return fmt.Sprintf("%q", d.text(newNames())) }

// drafts draws sequences of steps. Some use only one queue, or one channel for each client, so that clients meet more
// often.
var drafts = rapid.Custom(func(t *rapid.T) []draft {
	d := drawer{
		methods:  rapid.SampledFrom(mixes).Draw(t, "mix"),
		queues:   rapid.IntRange(1, queues).Draw(t, "queues"),
		channels: rapid.IntRange(1, channels).Draw(t, "channels"),
	}
	d.routed = slices.Contains(d.methods, amqp.ExchangeBind)
	d.deadly = slices.Contains(d.methods, amqp.BasicRecover)
	d.quorum = *quorumQueues && rapid.IntRange(0, 2).Draw(t, "quorum queues") == 2
	// Nested slices, because rapid draws single slices too short.
	parts := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(d.draw), 1, 12), 1, 12).Draw(t, "parts")
	return slices.Concat(parts...)
})

// drawer draws steps of a sequence from a given mix of methods, queues and channels.
type drawer struct {
	methods          []amqp.Method
	queues, channels int
	routed           bool // some messages are published to exchanges
	deadly           bool // some queues have dead letters
	quorum           bool // some queues are quorum queues
}

func (d drawer) queue(t *rapid.T) amqp.Queue {
	return amqp.Queue(rapid.IntRange(1, d.queues).Draw(t, "queue"))
}

// draw draws a step. The method NoMethod stands for killing the client.
func (d drawer) draw(t *rapid.T) draft {
	cmd := amqp.Command{Method: rapid.SampledFrom(d.methods).Draw(t, "method")}
	s := draft{sensible: rapid.IntRange(0, 9).Draw(t, "sensible") > 0}
	s.client = rapid.IntRange(1, clients-1).Draw(t, "client")
	cmd.Channel = uint16(rapid.IntRange(1, d.channels).Draw(t, "channel"))
	switch cmd.Method {
	case amqp.NoMethod:
		s.event = kill
		return s
	case amqp.QueueDeclare:
		cmd.Queue = amqp.Queue(rapid.IntRange(1, len(queueNames)).Draw(t, "queue"))
		cmd.Flags = rapid.SampledFrom(declareFlags).Draw(t, "flags")
		cmd.Args = rapid.SampledFrom(arguments).Draw(t, "arguments")
		if d.quorum && rapid.IntRange(0, 4).Draw(t, "quorum queue") > 0 {
			cmd.Flags = rapid.SampledFrom(quorumFlags).Draw(t, "flags")
			cmd.Args = rapid.SampledFrom(quorumArguments).Draw(t, "arguments")
			cmd.Args.Has |= amqp.Quorum
		}
		if d.deadly && rapid.Bool().Draw(t, "dead letters") {
			cmd.Args.Has |= rapid.SampledFrom(deadly).Draw(t, "how")
		}
		if cmd.Args.Has&amqp.HasDeadLetterExchange != 0 {
			cmd.Route = drawRoute(t, deadLetters)
		}
	case amqp.QueueDelete:
		cmd.Queue, cmd.Flags = d.queue(t), drawFlags(t, amqp.IfUnused, amqp.IfEmpty)
	case amqp.QueuePurge:
		cmd.Queue = d.queue(t)
	case amqp.QueueBind, amqp.QueueUnbind:
		cmd.Queue, cmd.Route = d.queue(t), drawRoute(t, bindings)
	case amqp.ExchangeBind, amqp.ExchangeUnbind:
		cmd.Route = drawRoute(t, joinings)
	case amqp.ExchangeDeclare:
		cmd.Flags, cmd.Route = rapid.SampledFrom(exchangeFlags).Draw(t, "flags"), drawRoute(t, declarings)
	case amqp.ExchangeDelete:
		cmd.Flags, cmd.Route = drawFlags(t, amqp.IfUnused), drawRoute(t, declarings)
	case amqp.BasicPublish:
		cmd.Queue = d.queue(t)
		cmd.Flags = drawFlags(t, amqp.Mandatory, amqp.Persistent, amqp.Expiring)
		if cmd.Flags.Has(amqp.Expiring) {
			cmd.Expiration = rapid.SampledFrom([]uint32{0, 600_000}).Draw(t, "expiration")
		}
		if d.quorum && cmd.Expiration == 0 { // in a quorum queue, immediate expiry takes a moment
			cmd.Flags &^= amqp.Expiring
		}
		cmd.Pipelined = rapid.Bool().Draw(t, "pipelined")
		cmd.Priority = rapid.SampledFrom([]int16{0, 0, 0, 1, 2, 255}).Draw(t, "priority")
		if d.routed && rapid.Bool().Draw(t, "routed") {
			cmd.Queue, cmd.Route = 0, drawRoute(t, publishings)
		}
	case amqp.BasicGet:
		cmd.Queue, cmd.Flags = d.queue(t), drawFlags(t, amqp.NoAck)
	case amqp.BasicConsume:
		cmd.Queue, cmd.Flags = d.queue(t), rapid.SampledFrom(consumeFlags).Draw(t, "flags")
		cmd.Number = rapid.Uint64Range(1, 3).Draw(t, "consumer")
		cmd.Priority = rapid.SampledFrom([]int16{0, 0, 0, 1, -1, 300}).Draw(t, "priority")
	case amqp.BasicCancel:
		cmd.Number = rapid.Uint64Range(1, 3).Draw(t, "consumer")
	case amqp.BasicQos:
		cmd.Number = rapid.Uint64Range(0, 2).Draw(t, "prefetch")
	case amqp.BasicAck:
		cmd.Number, cmd.Flags = rapid.Uint64Range(0, 6).Draw(t, "tag"), drawFlags(t, amqp.Multiple)
	case amqp.BasicNack:
		cmd.Number, cmd.Flags = rapid.Uint64Range(0, 6).Draw(t, "tag"), drawFlags(t, amqp.Multiple, amqp.Requeue)
	}
	s.cmd = cmd
	return s
}

func drawFlags(t *rapid.T, flags ...amqp.Flags) amqp.Flags {
	var set amqp.Flags
	for _, f := range flags {
		if rapid.Bool().Draw(t, "flag") {
			set |= f
		}
	}
	return set
}

func drawRoute(t *rapid.T, of []amqp.Routing) amqp.Route {
	return drawnNames.InternRoute(rapid.SampledFrom(of).Draw(t, "routing"))
}

// drawnNames are the names of queues and exchanges in drafts, with their numbers.
var drawnNames = newNames()

// exchangeFlags are the flags of exchange.declare to draw from, with frequent ones repeated.
var exchangeFlags = []amqp.Flags{0, 0, 0, 0, amqp.AutoDelete, amqp.AutoDelete, amqp.Durable, amqp.Internal, amqp.Passive}

// declareFlags are the flags of queue.declare to draw from.
var declareFlags = []amqp.Flags{
	0, 0, 0, 0, amqp.Exclusive, amqp.Exclusive, amqp.Durable, amqp.Durable, amqp.Passive, amqp.AutoDelete,
	amqp.Exclusive | amqp.Durable, amqp.Exclusive | amqp.AutoDelete, amqp.Durable | amqp.AutoDelete,
	amqp.Passive | amqp.Exclusive,
}

// quorumFlags and quorumArguments are the flags and arguments to draw from when a quorum queue is declared.
var (
	quorumFlags = []amqp.Flags{
		amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable, amqp.Durable,
		amqp.Durable | amqp.Exclusive, amqp.Durable | amqp.AutoDelete, 0, amqp.Passive,
	}
	quorumArguments = []amqp.Arguments{
		{}, {}, {}, {}, {}, {},
		{Has: amqp.HasDeliveryLimit},
		{Has: amqp.HasDeliveryLimit, DeliveryLimit: 1},
		{Has: amqp.HasDeliveryLimit, DeliveryLimit: 2},
		{Has: amqp.HasDeliveryLimit, DeliveryLimit: 100},
		{Has: amqp.HasDeliveryLimit | amqp.SingleActive, DeliveryLimit: 2},
		{Has: amqp.HasDeliveryLimit | amqp.HasMaxLength, DeliveryLimit: 2, MaxLength: 2},
		{Has: amqp.SingleActive},
		{Has: amqp.SingleActive},
		{Has: amqp.SingleActive | amqp.HasMaxLength, MaxLength: 2},
		{Has: amqp.HasMaxLength},
		{Has: amqp.HasMaxLength, MaxLength: 1},
		{Has: amqp.HasMaxLength | amqp.HasOverflow, MaxLength: 2},
		{Has: amqp.HasMessageTTL, MessageTTL: 600_000},
		{Has: amqp.HasMaxPriority, MaxPriority: 2},
	}
)

// consumeFlags are the flags of basic.consume to draw from, with frequent ones repeated.
var consumeFlags = []amqp.Flags{0, 0, 0, 0, 0, amqp.NoAck, amqp.NoAck, amqp.Exclusive}

// deadly are the sets of arguments that give a queue dead letters.
var deadly = []amqp.ArgumentSet{
	amqp.HasDeadLetterExchange, amqp.HasDeadLetterExchange | amqp.HasDeadLetterKey, amqp.HasDeadLetterExchange | amqp.HasDeadLetterKey,
	amqp.HasDeadLetterKey,
}

// arguments are the sets of queue arguments to draw from. Times in them are zero or longer than any test. Other times
// need a clock and are tested by the facts.
var arguments = []amqp.Arguments{
	{}, {}, {}, {}, {}, {},
	{Has: amqp.HasMaxLength},
	{Has: amqp.HasMaxLength, MaxLength: 1},
	{Has: amqp.HasMaxLength, MaxLength: 2},
	{Has: amqp.HasMaxLength | amqp.HasOverflow, MaxLength: 1},
	{Has: amqp.HasMaxLength | amqp.HasOverflow, Overflow: amqp.RejectPublish},
	{Has: amqp.HasMaxLength | amqp.HasOverflow, MaxLength: 1, Overflow: amqp.RejectPublish},
	{Has: amqp.SingleActive},
	{Has: amqp.SingleActive},
	{Has: amqp.HasMaxPriority, MaxPriority: 2},
	{Has: amqp.HasMaxPriority | amqp.HasMaxLength, MaxPriority: 10, MaxLength: 2},
	{Has: amqp.HasMaxLength | amqp.HasOverflow, MaxLength: 1, Overflow: amqp.RejectPublishDLX},
	{Has: amqp.SingleActive | amqp.HasMaxLength, MaxLength: 2},
	{Has: amqp.HasMessageTTL},
	{Has: amqp.HasMessageTTL, MessageTTL: 600_000},
	{Has: amqp.HasExpires, Expires: 600_000},
	{Has: amqp.HasExpires},
	{Has: amqp.HasOverflow, Overflow: amqp.RejectPublish},
}
