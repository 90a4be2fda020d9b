package amqp

import (
	"fmt"
	"strings"
)

// Words is a command as AMQP says it, short: "declare jobs-1-B exclusive". Probes are
// mandatory publishes; what is worth a word is a publish that is not.
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
		if c.Method == BasicCancel && c.Number == 0 && c.Flags == 0 { // its consumer's number is not known
			break
		}
		return fmt.Sprintf("%s %d%s", c.Method, c.Number, c.Flags.Words(Multiple, Requeue))
	}
	return c.Method.String()
}

// Words is a reply as the broker gave it; "" where none was due. The ack that follows a return
// is not worth a word (FACTS B1).
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

// Words is the short text of a delivery.
func (d Delivery) Words() string {
	if d.Cancelled {
		return fmt.Sprintf("basic.cancel %d", d.Consumer)
	}
	return fmt.Sprintf("delivery %d, message %d", d.Tag, d.Message)
}

// Words are the flags of a set among some, as AMQP calls them, each with a space before it.
func (set Flags) Words(among ...Flags) string {
	words := ""
	for _, f := range among {
		if set.Has(f) {
			words += " " + flagNames[f]
		}
	}
	return words
}

// String is the flags that a queue may have.
func (set Flags) String() string {
	return strings.TrimSpace(set.Words(Durable, Exclusive, AutoDelete))
}

var flagNames = map[Flags]string{
	Passive: "passive", Durable: "durable", Exclusive: "exclusive", AutoDelete: "auto-delete",
	Persistent: "persistent", NoAck: "no-ack", IfUnused: "if-unused", IfEmpty: "if-empty",
	Multiple: "multiple", Requeue: "requeue",
}

// Sent is a command with its reply, and the names that they speak of, as traces of executions keep them beside words.
type Sent struct {
	Command Command
	Reply   Reply
	// Delivery is the delivery, if there is no command.
	Delivery Delivery
	Names    *Names
}

// SentIn is what a trace's step has kept; without a command, where it has nothing.
func SentIn(payload any) Sent {
	s, _ := payload.(Sent)
	return s
}

// Resource is the name of the queue that the command is about, "" for none.
func (s *Sent) Resource() string {
	if s.Names == nil {
		return ""
	}
	return s.Names.Name(s.Command.Queue)
}
