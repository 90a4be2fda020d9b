package amqp

import (
	"fmt"
	"strings"
)

// Words describes a command briefly, such as "declare jobs-1-B exclusive". A publish is usually mandatory, since it is
// a probe, so that only a publish that is not mandatory is marked.
func (c Command) Words(names *Names) string {
	queue := names.Name(c.Queue)
	switch c.Method {
	case NoMethod:
		return ""
	case QueueDeclare:
		return "declare " + queue + c.Flags.Words(Passive, Exclusive, Durable, AutoDelete)
	case QueueDelete:
		return "delete " + queue + c.Flags.Words(IfUnused, IfEmpty)
	case QueuePurge:
		return "purge " + queue
	case QueueBind:
		return "bind " + queue
	case BasicPublish:
		words := "publish " + queue + c.Flags.Words(Persistent)
		if !c.Flags.Has(Mandatory) {
			words += " not mandatory"
		}
		return words
	case BasicGet:
		return "get " + queue + c.Flags.Words(NoAck)
	case BasicConsume:
		return "consume " + queue + c.Flags.Words(NoAck, Exclusive)
	case BasicAck, BasicNack, BasicCancel, BasicQos:
		if c.Method == BasicCancel && c.Number == 0 && c.Flags == 0 { // the consumer's number is unknown
			break
		}
		return fmt.Sprintf("%s %d%s", c.Method, c.Number, c.Flags.Words(Multiple, Requeue))
	}
	return c.Method.String()
}

// Words describes a reply briefly; "" if there is none. For a returned message it is only NO_ROUTE, without the ack
// that follows (FACTS B1).
func (r Reply) Words() string {
	switch r.Kind {
	case NoReply:
		return ""
	case ChannelClosed:
		return r.Code.String()
	case ConnectionClosed:
		if r.Code == 0 {
			return "connection gone"
		}
		return "connection closed, " + r.Code.String()
	case Lost:
		return "no reply"
	case GetOK:
		return fmt.Sprintf("message %d", r.Message)
	case GetEmpty:
		return "empty"
	}
	if r.Returned > 0 {
		if r.Kind == Ack {
			return "NO_ROUTE"
		}
		return r.Kind.String() + ", NO_ROUTE"
	}
	return r.Kind.String()
}

// Words describes a delivery or a basic.cancel briefly.
func (d Delivery) Words() string {
	if d.Cancelled {
		return fmt.Sprintf("basic.cancel %d", d.Consumer)
	}
	return fmt.Sprintf("delivery %d, message %d", d.Tag, d.Message)
}

// Words are the names of those flags in set that are also in among, each after a space.
func (set Flags) Words(among ...Flags) string {
	words := ""
	for _, f := range among {
		if set.Has(f) {
			words += " " + flagNames[f]
		}
	}
	return words
}

// String are the names of the flags in set that a queue can have: durable, exclusive and auto-delete.
func (set Flags) String() string {
	return strings.TrimSpace(set.Words(Durable, Exclusive, AutoDelete))
}

var flagNames = map[Flags]string{
	Passive: "passive", Durable: "durable", Exclusive: "exclusive", AutoDelete: "auto-delete",
	Persistent: "persistent", NoAck: "no-ack", IfUnused: "if-unused", IfEmpty: "if-empty",
	Multiple: "multiple", Requeue: "requeue",
}

// Sent is a command and its reply as the payload of a trace step. Names has the names of their queues.
type Sent struct {
	Command Command
	Reply   Reply
	// Delivery is the message that the broker sent, if the step has no command.
	Delivery Delivery
	Names    *Names
}

// SentIn is the Sent in the payload of a trace step. It is zero if the payload is something else.
func SentIn(payload any) Sent {
	s, _ := payload.(Sent)
	return s
}

// Resource is the name of the command's queue, "" for none.
func (s *Sent) Resource() string {
	if s.Names == nil {
		return ""
	}
	return s.Names.Name(s.Command.Queue)
}
