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
	Methods // number of methods, including no method
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
	Generated // of queue.declare: the broker has chosen the name, which may be reserved
)

// Has reports whether all the given bits are set.
func (f Flags) Has(bits Flags) bool { return f&bits == bits }

// Overflow is the behaviour of a queue when a message exceeds its maximum length (x-overflow).
type Overflow uint8

// The overflow behaviours of classic queues.
const (
	DropHead Overflow = iota
	RejectPublish
	RejectPublishDLX // the rejected message becomes a dead letter
)

// ArgumentSet says which of a queue's optional arguments are given.
type ArgumentSet uint16

// The optional arguments.
const (
	HasMaxLength ArgumentSet = 1 << iota
	HasExpires
	HasMessageTTL
	HasOverflow
	SingleActive // x-single-active-consumer: only one consumer is sent messages, until it is gone
	HasMaxPriority
	HasDeadLetterExchange // its name is the exchange of the command's routing
	HasDeadLetterKey      // it is the key of the command's routing
	Quorum                // x-queue-type is quorum rather than classic
	HasDeliveryLimit
)

// Arguments are the optional arguments of queue.declare. Times are in milliseconds.
type Arguments struct {
	Has         ArgumentSet
	Overflow    Overflow
	MaxPriority uint8 // highest priority that messages can have; higher ones come first
	MaxLength   uint32
	Expires     uint32
	MessageTTL  uint32
	// DeliveryLimit is the number of times that a message may return to a quorum queue. At the next return it becomes
	// a dead letter.
	DeliveryLimit uint32
}

// Command is one method that a client sends on one channel of its connection.
type Command struct {
	Method Method
	// Pipelined says that the client wrote the command right after the previous one, without waiting for its reply.
	// Brokers ignore this; it serves to count round trips.
	Pipelined bool
	Channel   uint16
	Queue     Queue // queue, or routing key on the default exchange
	Flags     Flags
	Args      Arguments
	// Number is the delivery tag of basic.ack and basic.nack, the number of the consumer of basic.consume and
	// basic.cancel, the prefetch count of basic.qos, and the identity of the message of basic.publish.
	Number uint64
	// Expiration is the message's time to live in milliseconds, if the flag Expiring is set.
	Expiration uint32
	// Priority is the priority of a message, or of a consumer (x-priority): consumers with a higher priority are sent
	// messages first.
	Priority int16
	// Route is the exchange of a command and the routing of messages. For queue.declare it is the destination of dead
	// letters. For a message to the default exchange it may have headers.
	Route Route
}

// Replies reports whether the broker sends a reply for which the client waits. A publish has one only in confirm
// mode; acks and nacks have none.
func (c *Command) Replies(confirms bool) bool {
	switch c.Method {
	case BasicAck, BasicNack:
		return false
	case BasicPublish:
		return confirms
	}
	return true
}
