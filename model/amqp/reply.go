package amqp

import "fmt"

// ReplyKind is the kind of a reply.
type ReplyKind uint8

// The kinds of replies. OK is the "-ok" reply of the command's method.
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

// String is the kind's name.
func (k ReplyKind) String() string {
	if k < replyKinds {
		return replyNames[k]
	}
	return "unknown"
}

// ReplyKindNamed is the kind with that name, and whether there is one.
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

// The reply codes that clients of locks may receive.
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

// Refusal reports whether the code means that a queue or its messages belong to another client. For a lock this is an
// answer, not a fault.
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
	// Redelivered is the flag "redelivered" of get-ok.
	Redelivered bool
	// Code is the reason why the broker closed the channel or connection. It is 312 if the broker returned messages,
	// and 0 otherwise.
	Code Code
	// Returned is the number of messages that the broker returned (basic.return) before this reply. The reply is the
	// confirm of a mandatory publish, or the commit-ok of a transaction (FACTS B1 and B18).
	Returned uint16
	// Deliveries is x-delivery-count: the number of times that the message of get-ok has returned to its queue. It is 0
	// if the queue does not count.
	Deliveries uint16
	// Messages is the number of messages in declare-ok, delete-ok, purge-ok and get-ok.
	Messages uint32
	// Consumers is the number of consumers in declare-ok.
	Consumers uint32
	// Number is the delivery tag of get-ok.
	Number uint64
	// Message is the number that identifies the message of get-ok.
	Message uint64
	// Letter is the number under which the simulated broker keeps the message's routing data; 0 unless the message is a
	// dead letter or may become one.
	Letter uint32
}

// Closed reports whether the reply says that the channel or the connection is closed.
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
	Deliveries  uint16 // as in [Reply]
	Consumer    uint64
	Tag         uint64
	Message     uint64
	Redelivered bool
	Cancelled   bool
	Letter      uint32 // as in [Reply]
}
