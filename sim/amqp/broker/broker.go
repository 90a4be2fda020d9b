package broker

import "github.com/lockproof/lockproof/model/amqp"

// Options are the differences between versions. The zero value is RabbitMQ 3.10.8.
type Options struct {
	// TransientRefused closes a connection, with 541, that declares a queue that is neither durable nor exclusive, as
	// RabbitMQ 4.3 does by default.
	TransientRefused bool
	// RoutedAtPublish looks up the queues of a transaction's messages when they are published, as RabbitMQ does since
	// 4.0, instead of at the commit. If a queue existed then and was deleted before the commit, the commit fails with
	// 406, even if a new queue has the same name.
	RoutedAtPublish bool
	// SuccessorServed sends ready messages to a consumer that becomes active because its predecessor was cancelled,
	// as RabbitMQ does since 3.12 at the latest. Earlier versions serve it when the queue next serves consumers, and
	// a message that is published before then overtakes the ready ones. If that message needs an acknowledgement, the
	// queue crashes instead, and returns with its persistent messages.
	SuccessorServed bool
	// Four has the other measured differences of RabbitMQ 4.0. The declaration of an exchange of unknown type closes
	// the channel with 406, instead of the connection with 503. Headers match by type, so that 1 is not 1.0, and are
	// delivered in the order of their names. Dead letters also name their latest death. A queue's default type is
	// among its arguments.
	Four bool
	// OwnTimeouts says that a queue can have its own consumer_timeout, as in RabbitMQ since 3.12. This broker does
	// not support it: the caller must refuse such a queue. Earlier versions ignore x-consumer-timeout.
	OwnTimeouts bool
	// ConsumerTimeout is the time, in milliseconds, for which a channel may keep a message unacknowledged
	// (consumer_timeout); then the broker closes the channel with 406. RabbitMQ checks once a minute by default; this
	// broker checks at once. 0 is unlimited; RabbitMQ's default is half an hour since 3.8.17.
	ConsumerTimeout int64
}

// Broker is one broker node. It is not safe for concurrent use.
type Broker struct {
	names   *amqp.Names
	opts    Options
	now     int64
	timed   bool         // some queue or message has had an expiry, so that time matters
	awaits  bool         // a channel may have an unacknowledged message
	stored  bool         // a message has stayed in a queue or went to a consumer; see Stored
	queues  []queue      // by amqp.Queue; grows when a name is first used
	conns   []connection // by Conn-1
	mail    *mail        // nil until some queue has dead letters
	routing *routing     // nil until a client declares an exchange or binds something
	late    int          // number of channels that ConsumerTimeout closed
	gone    []uint32     // by amqp.Queue, with RoutedAtPublish: number of deleted queues of that name
}

// New returns a broker without queues or connections. More names may be interned later.
func New(names *amqp.Names, opts Options) *Broker {
	return &Broker{names: names, opts: opts}
}

// Configure changes the options. A message of an open transaction is still routed by the old ones.
func (b *Broker) Configure(opts Options) { b.opts = opts }

// Reset makes the broker as new, at time 0, and reuses its memory.
func (b *Broker) Reset() {
	b.now, b.timed, b.awaits, b.stored = 0, false, false, false
	clear(b.gone)
	for i := range b.queues {
		b.queues[i].reset()
	}
	for i := range b.conns {
		b.conns[i].reset()
	}
	if b.routing != nil {
		b.routing.reset()
	}
	b.mail, b.late = nil, 0
}

// Apply answers one command on a channel of a connection.
//
// On a channel that the broker has closed, each command except channel.open is answered with ChannelClosed and the
// same code again. A real broker ignores commands after the failing one, and the client finds the channel.close in
// place of their replies. On a channel that was never open, or that the client has closed, a command ends the
// connection with 504 CHANNEL_ERROR. So does opening an open channel. On a connection that does not exist the answer
// is ConnectionClosed.
func (b *Broker) Apply(c Conn, cmd amqp.Command) (r amqp.Reply) {
	b.Answer(c, &cmd, &r)
	return r
}

// Answer is [Broker.Apply] without copying: it writes the reply to r.
func (b *Broker) Answer(c Conn, cmd *amqp.Command, r *amqp.Reply) {
	*r = amqp.Reply{}
	if !b.Alive(c) {
		r.Kind = amqp.ConnectionClosed
		return
	}
	switch cmd.Method {
	case amqp.ConnectionOpen:
		r.Kind = amqp.OK
		return
	case amqp.ConnectionClose:
		b.Disconnect(c)
		r.Kind = amqp.OK
		return
	case amqp.ChannelOpen:
		*r = b.openChannel(c, cmd.Channel)
		return
	}
	ch := b.channel(at{c, cmd.Channel})
	switch {
	case ch == nil:
		*r = b.endConnection(c, amqp.ChannelError)
		return
	case ch.state == broken:
		r.Kind, r.Code = amqp.ChannelClosed, ch.code
		return
	case cmd.Method == amqp.BasicPublish:
		b.publish(at{c, cmd.Channel}, ch, cmd, r)
	default:
		*r = b.dispatch(at{c, cmd.Channel}, ch, cmd)
	}
	if b.mail != nil {
		b.forwardDead()
	}
	if ch.returned > 0 && r.Kind != amqp.NoReply && !r.Closed() {
		r.Code, r.Returned, ch.returned = amqp.NoRoute, ch.returned, 0
	}
}

var ok = amqp.Reply{Kind: amqp.OK}

// dispatch handles a command on an open channel, except basic.publish.
func (b *Broker) dispatch(on at, ch *channel, cmd *amqp.Command) amqp.Reply {
	switch cmd.Method {
	case amqp.QueueDeclare:
		return b.declare(on, cmd)
	case amqp.QueueDelete:
		return b.delete(on, cmd)
	case amqp.QueuePurge:
		return b.purge(on, cmd)
	case amqp.QueueBind, amqp.ExchangeBind:
		return b.bind(on, cmd)
	case amqp.QueueUnbind, amqp.ExchangeUnbind:
		return b.unbind(on, cmd)
	case amqp.ExchangeDeclare:
		return b.declareExchange(on, cmd)
	case amqp.ExchangeDelete:
		return b.deleteExchange(on, cmd)
	case amqp.ConfirmSelect:
		return b.selectMode(on, ch, confirming)
	case amqp.TxSelect:
		return b.selectMode(on, ch, transacting)
	case amqp.TxCommit:
		return b.commit(on, ch)
	case amqp.TxRollback:
		return b.rollback(on, ch)
	case amqp.BasicGet:
		return b.get(on, ch, cmd)
	case amqp.BasicConsume:
		return b.consume(on, ch, cmd)
	case amqp.BasicCancel:
		return b.cancel(on, cmd)
	case amqp.BasicQos:
		ch.prefetch = uint16(cmd.Number)
		return ok
	case amqp.BasicRecover:
		b.recover(on, ch)
		return ok
	case amqp.BasicAck, amqp.BasicNack:
		return b.acknowledge(on, ch, cmd)
	case amqp.ChannelClose:
		b.endChannel(on, closed, 0)
		return ok
	}
	return b.endConnection(on.conn, amqp.NotImplemented)
}

// Exists reports whether a queue exists.
func (b *Broker) Exists(q amqp.Queue) bool { return int(q) < len(b.queues) && b.queues[q].exists }

// Owner is the connection that owns a queue exclusively, 0 if there is none. An exclusive queue belongs to a
// connection, not to the channel that declared it (FACTS B10 and B13).
func (b *Broker) Owner(q amqp.Queue) Conn {
	if !b.Exists(q) {
		return 0
	}
	return b.queues[q].owner
}

// Declared returns the flags and arguments with which a queue was declared.
func (b *Broker) Declared(q amqp.Queue) (amqp.Flags, amqp.Arguments) {
	if !b.Exists(q) {
		return 0, amqp.Arguments{}
	}
	p, flags := &b.queues[q].properties, amqp.Flags(0)
	if p.durable {
		flags |= amqp.Durable
	}
	if p.autoDelete {
		flags |= amqp.AutoDelete
	}
	if p.owner != 0 {
		flags |= amqp.Exclusive
	}
	return flags, p.args
}

// Depth is the number of ready messages of a queue: neither delivered nor expired.
func (b *Broker) Depth(q amqp.Queue) int {
	if !b.Exists(q) {
		return 0
	}
	return b.queues[q].ready.depth
}
