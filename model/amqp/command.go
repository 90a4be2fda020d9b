package amqp

// Method is an AMQP 0-9-1 method that a client sends.
type Method uint8

// The methods that the simulated broker answers.
const (
	NoMethod Method = iota
	ConnectionOpen
	ConnectionClose
	ChannelOpen
	ChannelClose
	ConfirmSelect
	TxSelect
	TxCommit
	TxRollback
	QueueDeclare
	QueueDelete
	QueuePurge
	QueueBind
	BasicPublish
	BasicGet
	BasicConsume
	BasicCancel
	BasicAck
	BasicNack
	BasicQos
	QueueUnbind
	ExchangeDeclare
	ExchangeDelete
	ExchangeBind
	ExchangeUnbind
	BasicRecover
	Methods // how many there are, with none
)

var methodNames = [Methods]string{
	"none", "connection.open", "connection.close", "channel.open", "channel.close", "confirm.select",
	"tx.select", "tx.commit", "tx.rollback", "queue.declare", "queue.delete", "queue.purge",
	"queue.bind", "basic.publish", "basic.get", "basic.consume", "basic.cancel", "basic.ack",
	"basic.nack", "basic.qos", "queue.unbind", "exchange.declare", "exchange.delete", "exchange.bind",
	"exchange.unbind", "basic.recover",
}

// String is the method's name in the specification, such as "queue.declare".
func (m Method) String() string {
	if m < Methods {
		return methodNames[m]
	}
	return "unknown"
}

// MethodNamed is the method with that name in the specification.
func MethodNamed(name string) (Method, bool) {
	for m, n := range methodNames {
		if n == name && m > 0 {
			return Method(m), true
		}
	}
	return NoMethod, false
}

// Flags are the bits of a command's arguments.
type Flags uint16

// The bits, by their names in the specification. Persistent is delivery mode 2.
const (
	Passive Flags = 1 << iota
	Durable
	Exclusive
	AutoDelete
	Mandatory
	Persistent
	NoAck
	IfUnused
	IfEmpty
	Multiple
	Requeue
	Expiring  // the message carries an expiration property
	Internal  // of exchange.declare: clients can't publish to it
	Generated // of queue.declare: the broker has chosen the name, which may be one of its own
)

// Has reports whether all the given bits are set.
func (f Flags) Has(bits Flags) bool { return f&bits == bits }

// Overflow is what a queue does with a message beyond its maximum length (x-overflow).
type Overflow uint8

// The overflow behaviours of classic queues.
const (
	DropHead Overflow = iota
	RejectPublish
	RejectPublishDLX // and makes it a dead letter
)

// ArgumentSet says which of a queue's optional arguments are given.
type ArgumentSet uint16

// The optional arguments.
const (
	HasMaxLength ArgumentSet = 1 << iota
	HasExpires
	HasMessageTTL
	HasOverflow
	SingleActive // x-single-active-consumer is true: one consumer is sent messages, and the next when it is gone
	HasMaxPriority
	HasDeadLetterExchange // whose name is the exchange of the command's routing
	HasDeadLetterKey      // which is the key of the command's routing
	Quorum                // x-queue-type is quorum, and not classic
	HasDeliveryLimit
)

// Arguments are the optional arguments of queue.declare. Times are milliseconds.
type Arguments struct {
	Has         ArgumentSet
	Overflow    Overflow
	MaxPriority uint8 // messages of higher priority come first, up to this one
	MaxLength   uint32
	Expires     uint32
	MessageTTL  uint32
	// DeliveryLimit is how often a message may come back to a quorum queue. Coming back once more, it is a dead letter.
	DeliveryLimit uint32
}

// Command is one method as a client sends it on one channel of its connection.
type Command struct {
	Method Method
	// Pipelined says that the command was written right behind the one before it, without waiting
	// for that one's reply. Brokers ignore it; it is what round trips are counted by.
	Pipelined bool
	Channel   uint16
	Queue     Queue // queue, or routing key on the default exchange
	Flags     Flags
	Args      Arguments
	// Number is the delivery tag of basic.ack and basic.nack, the consumer's number of
	// basic.consume and basic.cancel, the prefetch count of basic.qos, and the message's identity
	// on basic.publish.
	Number uint64
	// Expiration is the message's own time to live in milliseconds, with the flag Expiring.
	Expiration uint32
	// Priority is a message's, or that of a consumer (x-priority): one with a higher priority is sent messages first.
	Priority int16
	// Route is the exchange of a command, and the routing of its messages; for queue.declare, it is where dead
	// letters go. For a message to the default exchange it may have headers.
	Route Route
}

// Replies reports whether the broker answers the command with something the client waits for.
// A publish is answered on a channel in confirm mode only; acks and nacks never are.
func (c *Command) Replies(confirms bool) bool {
	switch c.Method {
	case BasicAck, BasicNack:
		return false
	case BasicPublish:
		return confirms
	}
	return true
}
