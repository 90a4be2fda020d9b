package wire

import (
	"fmt"
	"math"

	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// declaration is queue.declare in the model's terms.
func declaration(m *frame.QueueDeclare, name string) (amqp.Command, *refusal) {
	cmd := amqp.Command{Method: amqp.QueueDeclare}
	for i, set := range [...]bool{m.Passive, m.Durable, m.Exclusive, m.AutoDelete} {
		if set {
			cmd.Flags |= [...]amqp.Flags{amqp.Passive, amqp.Durable, amqp.Exclusive, amqp.AutoDelete}[i]
		}
	}
	if m.Passive {
		return cmd, nil
	}
	if len(m.Arguments) == 0 {
		return cmd, nil
	}
	for _, a := range queueArguments {
		value, given := m.Arguments.Lookup(a.name)
		if !given {
			continue
		}
		why := a.take(value, &cmd.Args)
		if why != "" {
			return cmd, refusef(frame.PreconditionFailed, "invalid arg '%s' for queue '%s' in vhost '/': %s", a.name, name, why)
		}
	}
	for _, a := range beyond {
		if value, given := m.Arguments.Lookup(a); given && !(a == "x-queue-type" && value == "classic") {
			return cmd, unsupported("queue.declare with the argument '%s'", a)
		}
	}
	return cmd, nil
}

// beyond are arguments that change what a queue does in ways that the model does not have.
var beyond = []string{
	"x-queue-type", "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-max-length-bytes", "x-max-priority",
	"x-single-active-consumer",
}

// queueArguments are the arguments that the model has, in the order in which RabbitMQ compares them.
var queueArguments = []struct {
	name string
	take func(value any, args *amqp.Arguments) (why string)
}{
	{"x-expires", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasExpires
		n, why := milliseconds(v)
		if why == "" && n == 0 {
			return "{value_zero,0}"
		}
		a.Expires = n
		return why
	}},
	{"x-message-ttl", func(v any, a *amqp.Arguments) (why string) {
		a.Has |= amqp.HasMessageTTL
		a.MessageTTL, why = milliseconds(v)
		return why
	}},
	{"x-max-length", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasMaxLength
		n, why := natural(v)
		a.MaxLength = uint32(min(n, math.MaxUint32))
		return why
	}},
	{"x-overflow", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasOverflow
		switch v {
		case "drop-head":
		case "reject-publish":
			a.Overflow = amqp.RejectPublish
		case "reject-publish-dlx": // there are no dead letters
			a.Overflow = amqp.RejectPublish
		default:
			if _, text := v.(string); text {
				return "invalid_overflow"
			}
			return fmt.Sprintf("{unacceptable_type,%s}", typeName(v))
		}
		return ""
	}},
}

// natural is a number that is not negative, or what RabbitMQ says of what is none.
func natural(value any) (int64, string) {
	n, ok := integer(value)
	switch {
	case !ok:
		return 0, fmt.Sprintf("\"expected integer, got %s\"", typeName(value))
	case n < 0:
		return 0, fmt.Sprintf("{value_negative,%d}", n)
	}
	return n, ""
}

func milliseconds(value any) (uint32, string) {
	n, why := natural(value)
	if why == "" && n > math.MaxUint32 {
		why = fmt.Sprintf("{value_too_large,%d}", n)
	}
	return uint32(n), why
}

func integer(value any) (int64, bool) {
	switch v := value.(type) {
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// typeName is RabbitMQ's name of a value's type.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "void"
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	case frame.Decimal:
		return "decimal"
	case frame.Timestamp:
		return "timestamp"
	case string:
		return "longstr"
	case []byte:
		return "binary"
	case frame.Table:
		return "table"
	}
	return "array"
}

// inequivalent says in which way a queue was declared otherwise before.
func inequivalent(name string, now, before *frame.QueueDeclare) string {
	arg := func(name, queue, received, current string) string {
		return fmt.Sprintf("inequivalent arg '%s' for queue '%s' in vhost '/': received %s but current is %s", name, queue, received, current)
	}
	// Exclusive queues are not durable, whatever they were declared as.
	durable := func(m *frame.QueueDeclare) bool { return m.Durable && !m.Exclusive }
	switch {
	case durable(now) != durable(before):
		return arg("durable", name, fmt.Sprintf("'%t'", durable(now)), fmt.Sprintf("'%t'", durable(before)))
	case now.AutoDelete != before.AutoDelete:
		return arg("auto_delete", name, fmt.Sprintf("'%t'", now.AutoDelete), fmt.Sprintf("'%t'", before.AutoDelete))
	}
	for _, a := range queueArguments {
		v, given := now.Arguments.Lookup(a.name)
		w, had := before.Arguments.Lookup(a.name)
		switch {
		case given && had && fmt.Sprint(v) != fmt.Sprint(w):
			return arg(a.name, name, fmt.Sprintf("'%v'", v), fmt.Sprintf("'%v'", w))
		case given && !had:
			return arg(a.name, name, fmt.Sprintf("the value '%v' of type '%s'", v, typeName(v)), "none")
		case had && !given:
			return arg(a.name, name, "none", fmt.Sprintf("the value '%v' of type '%s'", w, typeName(w)))
		}
	}
	return fmt.Sprintf("inequivalent args for queue '%s' in vhost '/'", name)
}
