package amqp

import "fmt"

// ReplyKind is the class of a reply.
type ReplyKind uint8

// The classes. OK is the "-ok" reply of the method.
const (
	NoReply          ReplyKind = iota // the command has no reply (a publish without confirms, an ack)
	OK                                // declare-ok, delete-ok, open-ok …
	Ack                               // basic.ack, the broker's confirm
	Nack                              // basic.nack, the broker's negative confirm
	GetOK                             // basic.get-ok with a message
	GetEmpty                          // basic.get-empty
	ChannelClosed                     // channel.close: the command or an earlier one broke the channel
	ConnectionClosed                  // connection.close, or the socket is closed
	Lost                              // no reply arrived in time: the effect is unknown
	replyKinds
)

var replyNames = [replyKinds]string{
	"none", "ok", "ack", "nack", "get-ok", "get-empty", "channel-closed", "connection-closed", "lost",
}

// String is the class's name.
func (k ReplyKind) String() string {
	if k < replyKinds {
		return replyNames[k]
	}
	return "unknown"
}

// ReplyKindNamed is the class with that name.
func ReplyKindNamed(name string) (ReplyKind, bool) {
	for k, n := range replyNames {
		if n == name {
			return ReplyKind(k), true
		}
	}
	return NoReply, false
}

// Code is an AMQP reply code.
type Code uint16

// The reply codes that locks meet.
const (
	ReplySuccess       Code = 200
	NoRoute            Code = 312
	ConnectionForced   Code = 320
	AccessRefused      Code = 403
	NotFound           Code = 404
	ResourceLocked     Code = 405
	PreconditionFailed Code = 406
	CommandInvalid     Code = 503
	ChannelError       Code = 504
	UnexpectedFrame    Code = 505
	NotAllowed         Code = 530
	NotImplemented     Code = 540
	InternalError      Code = 541
)

// Refusal reports whether a channel was closed because a queue or its messages belong to another client. This is an
// answer, not a failure.
func (c Code) Refusal() bool { return c == ResourceLocked || c == AccessRefused }

// String is the code with its name in the specification, such as "405 RESOURCE_LOCKED".
func (c Code) String() string {
	switch c {
	case 0:
		return "none"
	case ReplySuccess:
		return "200 REPLY_SUCCESS"
	case NoRoute:
		return "312 NO_ROUTE"
	case ConnectionForced:
		return "320 CONNECTION_FORCED"
	case AccessRefused:
		return "403 ACCESS_REFUSED"
	case NotFound:
		return "404 NOT_FOUND"
	case ResourceLocked:
		return "405 RESOURCE_LOCKED"
	case PreconditionFailed:
		return "406 PRECONDITION_FAILED"
	case CommandInvalid:
		return "503 COMMAND_INVALID"
	case ChannelError:
		return "504 CHANNEL_ERROR"
	case UnexpectedFrame:
		return "505 UNEXPECTED_FRAME"
	case NotAllowed:
		return "530 NOT_ALLOWED"
	case NotImplemented:
		return "540 NOT_IMPLEMENTED"
	case InternalError:
		return "541 INTERNAL_ERROR"
	}
	return "unknown code"
}

// Reply is the reply to one command.
type Reply struct {
	Kind ReplyKind
	// Redelivered is the flag of get-ok.
	Redelivered bool
	// Code is the reason why the channel or connection was closed; it is 312 if messages were returned.
	Code Code
	// Returned counts the basic.return methods that arrived with this reply: before the confirm of a mandatory
	// publish, or before commit-ok for those of the transaction (FACTS B1 and B18).
	Returned uint16
	// Deliveries is the number of times that the message of get-ok has returned to its queue, if the queue counts
	// this (x-delivery-count).
	Deliveries uint16
	// Messages is the message count of declare-ok, delete-ok, purge-ok and get-ok.
	Messages uint32
	// Consumers is the consumer count of declare-ok.
	Consumers uint32
	// Number is the delivery tag of get-ok.
	Number uint64
	// Message is the identity of the message in get-ok.
	Message uint64
	// Letter is the broker's number of the message's routing data, if the message is a dead letter or may become one.
	Letter uint32
}

// Closed reports whether the reply says that the channel or its connection is closed.
func (r *Reply) Closed() bool { return r.Kind == ChannelClosed || r.Kind == ConnectionClosed }

// String is the reply in words.
func (r Reply) String() string {
	words := r.Kind.String()
	if r.Code != 0 {
		words += " " + r.Code.String()
	}
	for _, n := range []struct {
		of    string
		count uint64
	}{
		{"returned", uint64(r.Returned)}, {"messages", uint64(r.Messages)}, {"consumers", uint64(r.Consumers)},
		{"delivery tag", r.Number}, {"message", r.Message},
	} {
		if n.count > 0 {
			words += fmt.Sprintf(", %s %d", n.of, n.count)
		}
	}
	return words
}

// Delivery is a message that the broker sends to a consumer, or basic.cancel, which says that the consumer's queue
// was deleted.
type Delivery struct {
	Channel     uint16
	Deliveries  uint16 // see [Reply]
	Consumer    uint64
	Tag         uint64
	Message     uint64
	Redelivered bool
	Cancelled   bool
	Letter      uint32 // see [Reply]
}
