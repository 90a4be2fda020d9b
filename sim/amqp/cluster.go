package amqp

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{Title: "RabbitMQ", Words: words, Defaults: amqplock.DefaultOptions(), References: amqplock.References, Mutants: mutant.All},
		New:     func() sim.Cluster { return new(cluster) }, Options: drawOptions, Answers: answers,
	})
}

var words = lock.Words{Server: "broker", Restarted: "connections and exclusive queues are gone"}

// cluster has the machines of clients and one simulated broker. A session is a connection.
type cluster struct {
	*plan
	plans    []*plan // the plans made so far
	target   *lock.Target
	options  amqplock.Options
	locks    []amqplock.Implementation
	scenario *scenario.Scenario
	owner    func(backend.Session) uint8
	clients  []client
	setUp    amqp.Sent // the last command that set up locks
	last     *amqp.Sent
}

// client is one client's machine, and its last command.
type client struct {
	machine  amqplock.Machine
	confirms bool // the client's channel confirms publishes
	sent     amqp.Sent
}

var _ sim.Cluster = (*cluster)(nil)

// Reset implements [sim.Cluster].
func (k *cluster) Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8) {
	k.options = amqplock.Table.Of(o)
	k.settle(t, s, o)
	k.scenario, k.owner, k.last = s, owner, nil
	k.clients = append(k.clients[:0], make([]client, len(s.Clients))...)
	for i := range k.clients {
		k.clients[i].machine.Channel = 1
		if k.Shared() {
			k.clients[i].machine.Channel = uint8(i + 1)
		}
	}
}

// SetUp implements [sim.Cluster]: the slots are declared as their administrator would have.
func (k *cluster) SetUp(said func(backend.Exchange)) {
	conn := k.broker.Connect()
	tell := func(cmd amqp.Command) {
		k.setUp = amqp.Sent{Command: cmd, Reply: k.broker.Apply(conn, cmd)}
		k.last = &k.setUp
		var x backend.Exchange
		k.exchange(&k.setUp, true, &x)
		said(x)
	}
	tell(amqp.Command{Method: amqp.ChannelOpen, Channel: 1})
	for i, layout := range k.layouts {
		cmd := amqp.Command{Method: amqp.QueueDeclare, Channel: 1, Args: k.options.Arguments}
		if k.options.Durable {
			cmd.Flags = amqp.Durable
		}
		for s := uint8(1); s <= k.scenario.Locks[i].Slots; s++ {
			if k.scenario.Locks[i].Has(s) {
				cmd.Queue = layout.A[s]
				tell(cmd)
			}
		}
	}
	tell(amqp.Command{Method: amqp.ConnectionClose})
	k.broker.Disconnect(conn)
}

func (k *cluster) client(c uint8) (*client, amqplock.Implementation) {
	return &k.clients[c-1], k.locks[k.scenario.Clients[c-1].Lock]
}

// Start implements [sim.Cluster].
func (k *cluster) Start(c uint8, op lock.Op, arg uint8) {
	cl, impl := k.client(c)
	impl.Start(&cl.machine, op, arg)
}

// Op implements [sim.Cluster].
func (k *cluster) Op(c uint8) lock.Op { return k.clients[c-1].machine.Op }

// Result implements [sim.Cluster].
func (k *cluster) Result(c uint8) (lock.Result, bool) {
	m := &k.clients[c-1].machine
	return m.Result, m.Done()
}

// Held implements [sim.Cluster].
func (k *cluster) Held(c uint8) uint8 { return k.clients[c-1].machine.Held }

// Linked implements [sim.Cluster].
func (k *cluster) Linked(c uint8) bool { return k.clients[c-1].machine.Link != amqplock.Down }

// Choices implements [sim.Cluster].
func (k *cluster) Choices(c uint8) int {
	cl, impl := k.client(c)
	return impl.Choices(&cl.machine)
}

// Choose implements [sim.Cluster].
func (k *cluster) Choose(c uint8, way int) (sleep int64) {
	cl, impl := k.client(c)
	impl.Choose(&cl.machine, way)
	sleep, cl.machine.Sleep = int64(cl.machine.Sleep), 0
	return sleep
}

// Links implements [sim.Cluster]. No command waits inside the broker.
func (k *cluster) Links(uint8) uint8 { return 1 }

// Answered implements [sim.Cluster].
func (k *cluster) Answered(uint8) bool { return false }

// Opens implements [sim.Cluster]. The command is kept for Deliver.
func (k *cluster) Opens(c uint8) bool {
	cl, impl := k.client(c)
	cl.sent.Command = impl.Next(&cl.machine)
	return cl.sent.Command.Method == amqp.ConnectionOpen
}

// Deliver implements [sim.Cluster].
func (k *cluster) Deliver(c uint8, on backend.Session) (x backend.Exchange) {
	cl := &k.clients[c-1]
	s, confirms := &cl.sent, cl.confirms
	switch method := s.Command.Method; {
	case method == amqp.ConnectionOpen:
		s.Reply, confirms = amqp.Reply{Kind: amqp.OK}, false
	case on == 0:
		s.Reply, confirms = amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced}, false
	default:
		k.broker.Answer(broker.Conn(on), &s.Command, &s.Reply)
		if s.Reply.Kind != amqp.ConnectionClosed && (method == amqp.ConfirmSelect || method == amqp.ChannelOpen) {
			cl.confirms = method == amqp.ConfirmSelect
		}
	}
	k.last = s
	k.exchange(s, confirms, &x)
	return x
}

// exchange fills in x for a command and its reply.
func (k *cluster) exchange(s *amqp.Sent, confirms bool, x *backend.Exchange) {
	s.Command.ExchangeTo(&s.Reply, s.Command.Replies(confirms), x)
	k.roles.mean(s.Command.Queue, x)
	x.Stored = k.broker.Stored()
}

// Reply implements [sim.Cluster].
func (k *cluster) Reply(c uint8) {
	cl, impl := k.client(c)
	impl.Apply(&cl.machine, cl.sent.Reply)
}

// Lose implements [sim.Cluster].
func (k *cluster) Lose(c uint8) {
	cl, impl := k.client(c)
	impl.Apply(&cl.machine, amqp.Reply{Kind: amqp.Lost})
}

// Act implements [sim.Cluster]. Clients have no activities besides operations.
func (k *cluster) Act(uint8, uint8, backend.Session) backend.Exchange { return backend.Exchange{} }

// Connect implements [sim.Cluster].
func (k *cluster) Connect() backend.Session { return backend.Session(k.broker.Connect()) }

// Rejoin implements [sim.Cluster]. It closes the client's old channel.
func (k *cluster) Rejoin(c uint8, on backend.Session) { k.closeChannel(c, on, amqp.ConnectionForced) }

// End implements [sim.Cluster].
func (k *cluster) End(on backend.Session) { k.broker.Disconnect(broker.Conn(on)) }

// Abort implements [sim.Cluster].
func (k *cluster) Abort(c uint8, on backend.Session) { k.closeChannel(c, on, amqp.InternalError) }

func (k *cluster) closeChannel(c uint8, on backend.Session, code amqp.Code) {
	k.broker.CloseChannel(broker.Conn(on), uint16(k.clients[c-1].machine.Channel), code)
}

// Restart implements [sim.Cluster].
func (k *cluster) Restart() { k.broker.Restart() }

// Advance implements [sim.Cluster].
func (k *cluster) Advance(ms int64) (passed int64, changed bool) {
	return ms, k.broker.Advance(ms)
}

// Expired implements [sim.Cluster]: connections have no lease.
func (k *cluster) Expired(buf []backend.Session) []backend.Session { return buf }

// NextTimer implements [sim.Cluster].
func (k *cluster) NextTimer() (int64, bool) {
	at, due := k.broker.NextTimer()
	return at - k.broker.Now(), due
}

// Shared implements [sim.Cluster].
func (k *cluster) Shared() bool { return k.options.Connection == amqplock.SharedConnection }

// Independent implements [sim.Cluster]. Time that matters, or a shared connection, makes all clients dependent.
func (k *cluster) Independent() bool { return !k.Shared() && !k.timed() && len(k.layouts) == 1 }

// timed reports whether the passage of time makes a difference with these options.
func (k *cluster) timed() bool {
	return k.options.Jitter > 0 || k.options.Arguments.Has&(amqp.HasExpires|amqp.HasMessageTTL) != 0
}

// Describe implements [sim.Cluster].
func (k *cluster) Describe(step *scenario.TraceStep) {
	step.Command, step.Reply = k.last.Command.Words(k.names), k.last.Reply.Words()
	sent := *k.last
	sent.Names = k.names
	step.Resource, step.Payload = sent.Resource(), sent
}
