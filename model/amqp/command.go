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
	Methods // number of methods, including NoMethod
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

// MethodNamed returns the method with that name in the specification, and whether there is one.
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

// The flags, with their names in the specification. Persistent means delivery mode 2.
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
	Generated // of queue.declare: the broker has generated the name, which may therefore begin with amq.
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

// ArgumentSet is a set of optional arguments of queue.declare: those that a command has.
type ArgumentSet uint16

// The optional arguments.
const (
	HasMaxLength ArgumentSet = 1 << iota
	HasExpires
	HasMessageTTL
	HasOverflow
	SingleActive // x-single-active-consumer: the queue serves one consumer at a time
	HasMaxPriority
	HasDeadLetterExchange // the exchange's name is in the command's Route
	HasDeadLetterKey      // the key is in the command's Route
	Quorum                // x-queue-type is quorum; otherwise it is classic
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
	// DeliveryLimit is the number of times that a message may return to a quorum queue. After one more return it
	// becomes a dead letter.
	DeliveryLimit uint32
}

// Command is one method that a client sends on one channel of its connection.
type Command struct {
	Method Method
	// Pipelined says that the client sent the command without waiting for the reply to the previous one. Brokers ignore
	// this; it serves to count round trips.
	Pipelined bool
	Channel   uint16
	Queue     Queue // the queue, or the routing key on the default exchange
	Flags     Flags
	Args      Arguments
	// Number has a meaning that depends on the method. It is the delivery tag for basic.ack and basic.nack, the
	// consumer's number for basic.consume and basic.cancel, the prefetch count for basic.qos, and the message's number
	// for basic.publish.
	Number uint64
	// Expiration is the message's time to live in milliseconds, if the flag Expiring is set.
	Expiration uint32
	// Priority is the priority of a message, or of a consumer (x-priority). The broker serves consumers with a higher
	// priority first.
	Priority int16
	// Route has the exchange of the command, and the key and headers of a message. For queue.declare it has the
	// exchange and key of dead letters. For the default exchange it is zero, unless a message has headers.
	Route Route
}

// Replies reports whether the client waits for a reply of the broker to the command. A publish gets one only in confirm
// mode. Acks and nacks get none.
func (c *Command) Replies(confirms bool) bool {
	switch c.Method {
	case BasicAck, BasicNack:
		return false
	case BasicPublish:
		return confirms
	}
	return true
}
