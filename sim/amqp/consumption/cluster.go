package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

func init() {
	sim.Register(&sim.Backend{
		Backend: &lock.Backend{
			Name: consumption.Server, Title: "RabbitMQ", Defaults: consumption.DefaultOptions(),
			Words:      lock.Words{Server: "broker", Restarted: "connections and what is not durable are gone", Hold: "what was consumed"},
			References: consumption.References, Mutants: consumption.Mutants,
		},
		New: func() sim.Cluster { return new(cluster) }, Links: true, Units: true, Answers: answers,
	})
}

// answers are the broker's replies that a complete search is expected to meet.
var answers = []sim.Answer{
	{Name: "get-empty", Method: uint8(amqp.BasicGet), Answer: 5, Result: backend.Absent},
	{Name: "consume-ok", Method: uint8(amqp.BasicConsume)},
	{Name: "ACCESS_REFUSED", Method: uint8(amqp.BasicConsume), Answer: 3, Result: backend.Refused},
	{Name: "RESOURCE_LOCKED", Method: uint8(amqp.QueueDeclare), Result: backend.Refused},
}

// These are the links of a client beside its operation.
const (
	taking   = 1 // the client receives the next delivery to its consumer
	patience = 2 // the client gives up waiting for a token
)

// cluster has the clients' machines and one simulated broker. A session is a connection to the broker. A client's
// result depends on the other consumers and their order, so clients are not independent.
type cluster struct {
	sim.Plain
	target   *lock.Target
	settings consumption.Settings
	scenario *scenario.Scenario
	owner    func(backend.Session) uint8
	names    *amqp.Names
	locks    []consumption.Protocol
	broker   *broker.Broker
	clients  []client
	grants   []grant
	setUp    amqp.Sent // last command that created the initial slots
	last     *amqp.Sent
}

// client has the machine of one client, the client's last command, and the state of its connection.
type client struct {
	machine  consumption.Machine
	sent     amqp.Sent
	granted  uint8           // slot number of the token that the last reply brought; 0 if it brought none
	on       backend.Session // the client's own session; the broker may have ended it
	confirms bool
	// A release may acknowledge the token first, and then publish a new one: owes is the slot of a token that is
	// acknowledged and not yet published again. Or it may publish first: spare is the delivery tag of the old token,
	// which is not acknowledged yet. For both, 0 means none.
	owes  uint8
	spare uint64
}

var _ sim.Cluster = (*cluster)(nil)

// Reset implements [sim.Cluster]: it begins a scenario with empty servers and idle clients.
func (k *cluster) Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8) {
	k.target, k.settings, k.scenario, k.owner, k.last = t, consumption.Table.Of(o), s, owner, nil
	k.names, k.locks, k.grants = new(amqp.Names), k.locks[:0], k.grants[:0]
	for _, l := range s.Locks {
		k.locks = append(k.locks, consumption.Protocol{Kind: t.Kind, Settings: k.settings, Layout: consumption.NewLayout(k.names, l.Name)})
	}
	k.broker = broker.New(k.names, broker.Options{ConsumerTimeout: int64(k.settings.Timeout)})
	k.clients = append(k.clients[:0], make([]client, len(s.Clients))...)
	for i := range k.clients {
		k.clients[i].machine.Channel = 1
	}
}

// SetUp implements [sim.Cluster]: it creates the initial slots with the commands that an administrator would send.
func (k *cluster) SetUp(said func(backend.Exchange)) {
	conn := k.broker.Connect()
	tell := func(cmd amqp.Command) {
		cmd.Channel = 1
		k.setUp = amqp.Sent{Command: cmd, Reply: k.broker.Apply(conn, cmd)}
		k.last = &k.setUp
		said(cmd.Exchange(k.setUp.Reply, cmd.Replies(true)))
	}
	tell(amqp.Command{Method: amqp.ChannelOpen})
	tell(amqp.Command{Method: amqp.ConfirmSelect})
	for i := range k.locks {
		for _, cmd := range k.locks[i].Furnish(int(k.scenario.Locks[i].Slots)) {
			tell(cmd)
		}
	}
	tell(amqp.Command{Method: amqp.ConnectionClose})
	k.broker.Disconnect(conn)
}

func (k *cluster) client(c uint8) (*client, *consumption.Protocol) {
	return &k.clients[c-1], &k.locks[k.scenario.Clients[c-1].Lock]
}

// Start implements [sim.Cluster]: it begins an operation on client c's machine.
func (k *cluster) Start(c uint8, op lock.Op, arg uint8) {
	cl, p := k.client(c)
	p.Start(&cl.machine, op, arg)
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

// Links implements [sim.Cluster]. A client that waits for a token can receive the next delivery or give up.
func (k *cluster) Links(c uint8) (set uint8) {
	cl := &k.clients[c-1]
	if cl.machine.Waits() {
		set = 1 << patience
	} else {
		set = 1
	}
	if k.broker.Undelivered(broker.Conn(cl.on)) && k.mine(cl, c) {
		set |= 1 << taking
	}
	return set
}

// mine reports whether the client still uses its session, and the session still exists on the broker.
func (k *cluster) mine(cl *client, c uint8) bool {
	return cl.on != 0 && k.broker.Alive(broker.Conn(cl.on)) && k.owner(cl.on) == c
}

// Answered implements [sim.Cluster]: it reports whether the reply to a client's waiting command is ready.
func (k *cluster) Answered(uint8) bool { return false }

// Opens implements [sim.Cluster]. It stores the client's next command for Deliver.
func (k *cluster) Opens(c uint8) bool {
	cl, p := k.client(c)
	cl.sent = amqp.Sent{Command: p.Next(&cl.machine)}
	return cl.sent.Command.Method == amqp.ConnectionOpen
}

// Deliver implements [sim.Cluster]. The client receives earlier deliveries before the reply.
func (k *cluster) Deliver(c uint8, on backend.Session) backend.Exchange {
	cl, _ := k.client(c)
	cl.on = on
	k.take(c)
	s, cmd := &cl.sent, &cl.sent.Command
	switch {
	case cmd.Method == amqp.ConnectionOpen:
		s.Reply, cl.confirms, cl.owes, cl.spare = amqp.Reply{Kind: amqp.OK}, false, 0, 0
	case on == 0:
		s.Reply = amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced}
	default:
		s.Reply = k.broker.Apply(broker.Conn(on), *cmd)
	}
	k.last = s
	k.account(cl, cmd, s.Reply)
	k.number()
	cl.granted = 0
	if s.Reply.Kind == amqp.GetOK {
		cl.granted = k.numberOf(on, s.Reply.Number)
	}
	return k.exchange(c, cmd, s.Reply)
}

// account updates owes and spare of a client after one of its commands.
func (k *cluster) account(cl *client, cmd *amqp.Command, r amqp.Reply) {
	if r.Closed() {
		cl.confirms = false
		cl.spare = 0
		return
	}
	m := &cl.machine
	switch cmd.Method {
	case amqp.ChannelOpen, amqp.ChannelClose:
		cl.confirms, cl.spare = false, 0
	case amqp.ConfirmSelect:
		cl.confirms = true
	}
	if m.Op != lock.Release {
		return
	}
	switch {
	case cmd.Method == amqp.BasicAck && m.Phase == consumption.Acking && k.settings.Release == consumption.AckPublish:
		cl.owes = m.Slot
	case cmd.Method == amqp.BasicPublish && k.settings.Release == consumption.AckPublish:
		cl.owes = 0
	case cmd.Method == amqp.BasicPublish && k.settings.Release == consumption.PublishAck:
		cl.spare = uint64(m.Tag)
	case cmd.Method == amqp.BasicAck:
		cl.spare = 0
	}
}

// Reply implements [sim.Cluster]: it gives client c the reply to its last command.
func (k *cluster) Reply(c uint8) {
	cl, p := k.client(c)
	p.Apply(&cl.machine, cl.sent.Reply, cl.granted)
}

// Lose implements [sim.Cluster]: client c loses the reply to its last command, and sees its session as broken.
func (k *cluster) Lose(c uint8) {
	cl, p := k.client(c)
	p.Apply(&cl.machine, amqp.Reply{Kind: amqp.Lost}, 0)
}

// take gives all deliveries to a client's consumer to the client's machine.
func (k *cluster) take(c uint8) {
	cl, p := k.client(c)
	for _, d := range k.broker.Deliveries(broker.Conn(cl.on), nil) {
		k.hand(cl, p, d)
	}
}

func (k *cluster) hand(cl *client, p *consumption.Protocol, d amqp.Delivery) {
	if d.Cancelled && !k.settings.Notify || cl.machine.Link != amqplock.Up {
		return
	}
	p.Take(&cl.machine, d, k.numberOf(cl.on, d.Tag))
}

// Act implements [sim.Cluster]: it takes a step of client c beside its operation.
func (k *cluster) Act(c, link uint8, _ backend.Session) backend.Exchange {
	cl, p := k.client(c)
	if link == patience {
		p.GiveUp(&cl.machine)
		return backend.Exchange{}
	}
	d, _ := k.broker.Delivery(broker.Conn(cl.on))
	k.hand(cl, p, d)
	cl.sent = amqp.Sent{Delivery: d}
	k.last = &cl.sent
	return backend.Exchange{Method: uint8(amqp.BasicConsume), Unasked: true}
}

// Connect implements [sim.Cluster]: it opens a session and returns its number.
func (k *cluster) Connect() backend.Session { return backend.Session(k.broker.Connect()) }

// End implements [sim.Cluster]: the server ends a session.
func (k *cluster) End(on backend.Session) {
	k.broker.Disconnect(broker.Conn(on))
	k.number()
}

// Abort implements [sim.Cluster]: the server ends client c's unit of a session because of an error.
func (k *cluster) Abort(c uint8, on backend.Session) {
	cl := &k.clients[c-1]
	k.broker.CloseChannel(broker.Conn(on), uint16(cl.machine.Channel), amqp.InternalError)
	cl.spare = 0
	k.number()
}

// Restart implements [sim.Cluster]: it stops the servers and starts them again.
func (k *cluster) Restart() {
	k.broker.Restart()
	k.number()
}

// Advance implements [sim.Cluster]: it lets the servers' time pass, and reports whether anything changed.
func (k *cluster) Advance(ms int64) (passed int64, changed bool) {
	changed = k.broker.Advance(ms)
	if changed {
		k.number()
	}
	return ms, changed
}

// Expired implements [sim.Cluster]: no session expires, since connections have no lease.
func (k *cluster) Expired(buf []backend.Session) []backend.Session { return buf }

// NextTimer implements [sim.Cluster]: it returns the milliseconds until Advance next changes something.
func (k *cluster) NextTimer() (int64, bool) {
	at, due := k.broker.NextTimer()
	return at - k.broker.Now(), due
}

// Describe implements [sim.Cluster]: it adds the last command and its reply to a step of a trace.
func (k *cluster) Describe(step *scenario.TraceStep) {
	step.Command, step.Reply = k.last.Command.Words(k.names), k.last.Reply.Words()
	if k.last.Command.Method == amqp.NoMethod {
		step.Reply = k.last.Delivery.Words()
	}
	sent := *k.last
	sent.Names = k.names
	step.Resource, step.Payload = sent.Resource(), sent
}

// Phase names the current activity of client c's machine.
func (k *cluster) Phase(c uint8) string { return k.clients[c-1].machine.Phase.String() }
