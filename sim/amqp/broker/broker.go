package broker

import "github.com/lockproof/lockproof/model/amqp"

// Options are the differences between RabbitMQ's versions. The zero value stands for RabbitMQ 3.10.8.
type Options struct {
	// TransientRefused refuses queues that are neither durable nor exclusive: declaring one closes the connection with
	// 541. RabbitMQ 4.3 does so by default.
	TransientRefused bool
	// RoutedAtPublish looks up the queues of a message in a transaction when the message is published, as RabbitMQ does
	// since 4.0. Otherwise the commit looks them up. If a queue is deleted between publish and commit, the commit fails
	// with 406, even if a new queue has the same name.
	RoutedAtPublish bool
	// SuccessorServed delivers ready messages at once to a consumer that becomes active because its predecessor was
	// cancelled. RabbitMQ does so since 3.12 at the latest. In earlier versions the consumer waits until the queue next
	// serves its consumers. A message that is published before then overtakes the ready ones. If the consumer has to
	// acknowledge it, the queue crashes instead, and restarts with its persistent messages.
	SuccessorServed bool
	// Four has the other measured differences of RabbitMQ 4.0. The declaration of an exchange of unknown type closes
	// the channel with 406, instead of the connection with 503. Headers match by type, so that 1 is not 1.0, and are
	// delivered in the order of their names. Dead letters also name their latest death. A queue's default type is
	// among its arguments.
	Four bool
	// OwnTimeouts says that a queue can have its own consumer_timeout, as in RabbitMQ since 3.12. This broker does not
	// support such queues, so the caller must refuse them. Earlier versions ignore the argument x-consumer-timeout.
	OwnTimeouts bool
	// ConsumerTimeout is the time in milliseconds after which the broker closes a channel with 406 if it has not
	// acknowledged a message (consumer_timeout); 0 means no limit. RabbitMQ's default is half an hour since 3.8.17. By
	// default RabbitMQ checks once a minute; this broker checks at once.
	ConsumerTimeout int64
}

// Broker is a broker with one node. It is not safe for concurrent use.
type Broker struct {
	names   *amqp.Names
	opts    Options
	now     int64
	timed   bool         // some queue or message expires, or did, so that time matters
	awaits  bool         // some channel may have an unacknowledged message
	reached bool         // see Reached
	queues  []queue      // indexed by amqp.Queue; it grows when a name is first used
	conns   []connection // indexed by number minus 1
	mail    *mail        // nil until a queue with dead letters is declared
	routing *routing     // nil until a client declares an exchange or binds something
	late    int          // number of channels closed because of ConsumerTimeout
	gone    []uint32     // indexed by amqp.Queue, only with RoutedAtPublish: number of deleted queues of that name
}

// New returns a broker without queues or connections. The caller may add names to names later.
func New(names *amqp.Names, opts Options) *Broker {
	return &Broker{names: names, opts: opts}
}

// Configure changes the options. Messages published before, in an open transaction, keep their old routing.
func (b *Broker) Configure(opts Options) { b.opts = opts }

// Reset returns the broker to the state of a new one, at time 0, and reuses its memory.
func (b *Broker) Reset() {
	b.now, b.timed, b.awaits, b.reached = 0, false, false, false
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

// Apply executes one command on a channel of connection c, and returns the reply.
//
// On a channel that the broker has closed, each command except channel.open is answered with ChannelClosed and the code
// again. A real broker ignores commands after the failing one; a client receives channel.close in place of their
// replies. On a channel that was never open, or that the client has closed, a command ends the connection with 504
// CHANNEL_ERROR. Opening a channel that is open does the same. On a connection that does not exist, the reply is
// ConnectionClosed.
func (b *Broker) Apply(c Conn, cmd amqp.Command) (r amqp.Reply) {
	b.Answer(c, &cmd, &r)
	return r
}

// Answer is like [Broker.Apply], but copies neither command nor reply: it writes the reply to r.
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

// dispatch executes a command on an open channel. Publishing is handled elsewhere.
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

// Owner returns the connection that owns a queue exclusively; 0 means none. An exclusive queue belongs to a connection,
// not to the channel that declared it (FACTS B10 and B13).
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

// Depth returns the number of ready messages in a queue: neither delivered nor expired.
func (b *Broker) Depth(q amqp.Queue) int {
	if !b.Exists(q) {
		return 0
	}
	return b.queues[q].ready.depth
}
