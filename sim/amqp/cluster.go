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

// cluster has the clients' machines and one simulated broker. A session is a connection to the broker.
type cluster struct {
	*plan
	plans    []*plan // plans for earlier scenarios, to be used again
	target   *lock.Target
	options  amqplock.Options
	locks    []amqplock.Implementation
	scenario *scenario.Scenario
	owner    func(backend.Session) uint8
	clients  []client
	setUp    amqp.Sent // last command that created the initial slots
	last     *amqp.Sent
}

// client has the machine of one client, and the client's last command.
type client struct {
	machine  amqplock.Machine
	confirms bool // the client's channel is in confirm mode
	sent     amqp.Sent
}

var _ sim.Cluster = (*cluster)(nil)

// Reset implements [sim.Cluster]: it begins a scenario with empty servers and idle clients.
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

// SetUp implements [sim.Cluster]: it declares the initial slots with the commands that an administrator would send.
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

// Start implements [sim.Cluster]: it begins an operation on client c's machine.
func (k *cluster) Start(c uint8, op lock.Op, arg uint8) {
	cl, impl := k.client(c)
	impl.Start(&cl.machine, op, arg)
}

// Op implements [sim.Cluster]: it returns client c's current or last operation.
func (k *cluster) Op(c uint8) lock.Op { return k.clients[c-1].machine.Op }

// Result implements [sim.Cluster]: it returns the result of client c's operation, and whether the operation has ended.
func (k *cluster) Result(c uint8) (lock.Result, bool) {
	m := &k.clients[c-1].machine
	return m.Result, m.Done()
}

// Held implements [sim.Cluster]: it returns the slot that client c believes it holds; 0 means none.
func (k *cluster) Held(c uint8) uint8 { return k.clients[c-1].machine.Held }

// Linked implements [sim.Cluster]: it reports whether client c believes that it has a session.
func (k *cluster) Linked(c uint8) bool { return k.clients[c-1].machine.Link != amqplock.Down }

// Choices implements [sim.Cluster]: it returns the number of values of the random option that client c can choose from.
func (k *cluster) Choices(c uint8) int {
	cl, impl := k.client(c)
	return impl.Choices(&cl.machine)
}

// Choose implements [sim.Cluster]. The result is the milliseconds for which client c then sleeps.
func (k *cluster) Choose(c uint8, way int) (sleep int64) {
	cl, impl := k.client(c)
	impl.Choose(&cl.machine, way)
	sleep, cl.machine.Sleep = int64(cl.machine.Sleep), 0
	return sleep
}

// Links implements [sim.Cluster]: link 0 can always continue, since no command waits inside the broker.
func (k *cluster) Links(uint8) uint8 { return 1 }

// Answered implements [sim.Cluster]: it reports whether the reply to a client's waiting command is ready.
func (k *cluster) Answered(uint8) bool { return false }

// Opens implements [sim.Cluster]. It stores the client's next command for Deliver.
func (k *cluster) Opens(c uint8) bool {
	cl, impl := k.client(c)
	cl.sent.Command = impl.Next(&cl.machine)
	return cl.sent.Command.Method == amqp.ConnectionOpen
}

// Deliver implements [sim.Cluster]: it sends the next command of client c's operation on a session.
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

// Reached implements [sim.Reaching].
func (k *cluster) Reached() bool { return k.broker.Reached() }

// exchange stores in x the description of a command and its reply.
func (k *cluster) exchange(s *amqp.Sent, confirms bool, x *backend.Exchange) {
	s.Command.ExchangeTo(&s.Reply, s.Command.Replies(confirms), x)
	k.roles.mean(s.Command.Queue, x)
}

// Reply implements [sim.Cluster]: it gives client c the reply to its last command.
func (k *cluster) Reply(c uint8) {
	cl, impl := k.client(c)
	impl.Apply(&cl.machine, cl.sent.Reply)
}

// Lose implements [sim.Cluster]: client c loses the reply to its last command, and sees its session as broken.
func (k *cluster) Lose(c uint8) {
	cl, impl := k.client(c)
	impl.Apply(&cl.machine, amqp.Reply{Kind: amqp.Lost})
}

// Act implements [sim.Cluster]. It is never called, since clients have no activities besides their operations.
func (k *cluster) Act(uint8, uint8, backend.Session) backend.Exchange { return backend.Exchange{} }

// Connect implements [sim.Cluster]: it opens a session and returns its number.
func (k *cluster) Connect() backend.Session { return backend.Session(k.broker.Connect()) }

// Rejoin implements [sim.Cluster]: it closes the client's old channel on the shared connection.
func (k *cluster) Rejoin(c uint8, on backend.Session) { k.closeChannel(c, on, amqp.ConnectionForced) }

// End implements [sim.Cluster]: the server ends a session.
func (k *cluster) End(on backend.Session) { k.broker.Disconnect(broker.Conn(on)) }

// Abort implements [sim.Cluster]: the server ends client c's unit of a session because of an error.
func (k *cluster) Abort(c uint8, on backend.Session) { k.closeChannel(c, on, amqp.InternalError) }

func (k *cluster) closeChannel(c uint8, on backend.Session, code amqp.Code) {
	k.broker.CloseChannel(broker.Conn(on), uint16(k.clients[c-1].machine.Channel), code)
}

// Restart implements [sim.Cluster]: it stops the servers and starts them again.
func (k *cluster) Restart() { k.broker.Restart() }

// Advance implements [sim.Cluster]: it lets the servers' time pass, and reports whether anything changed.
func (k *cluster) Advance(ms int64) (passed int64, changed bool) {
	return ms, k.broker.Advance(ms)
}

// Expired implements [sim.Cluster]: no session expires, since connections have no lease.
func (k *cluster) Expired(buf []backend.Session) []backend.Session { return buf }

// NextTimer implements [sim.Cluster]: it returns the milliseconds until Advance next changes something.
func (k *cluster) NextTimer() (int64, bool) {
	at, due := k.broker.NextTimer()
	return at - k.broker.Now(), due
}

// Shared implements [sim.Cluster]: it reports whether all clients use one session.
func (k *cluster) Shared() bool { return k.options.Connection == amqplock.SharedConnection }

// Independent implements [sim.Cluster]. Clients depend on each other if time matters, if they share a connection, or if
// there are two locks.
func (k *cluster) Independent() bool { return !k.Shared() && !k.timed() && len(k.layouts) == 1 }

// timed reports whether the options make the passing of time matter.
func (k *cluster) timed() bool {
	return k.options.Jitter > 0 || k.options.Arguments.Has&(amqp.HasExpires|amqp.HasMessageTTL) != 0
}

// Describe implements [sim.Cluster]: it adds the last command and its reply to a step of a trace.
func (k *cluster) Describe(step *scenario.TraceStep) {
	step.Command, step.Reply = k.last.Command.Words(k.names), k.last.Reply.Words()
	sent := *k.last
	sent.Names = k.names
	step.Resource, step.Payload = sent.Resource(), sent
}
