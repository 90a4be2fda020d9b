package wire

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// declaration converts a queue.declare to a command of the model. It returns a refusal if the declaration is invalid on
// any broker.
func declaration(m *frame.QueueDeclare, name string) (amqp.Command, *refusal) {
	cmd := amqp.Command{Method: amqp.QueueDeclare}
	cmd.Flags = when(amqp.Passive, m.Passive) | when(amqp.Durable, m.Durable) | when(amqp.Exclusive, m.Exclusive) | when(amqp.AutoDelete, m.AutoDelete)
	if m.Passive {
		return cmd, nil
	}
	if len(m.Arguments) == 0 {
		return cmd, nil
	}
	kind := queueType(m.Arguments)
	var wrong, unknown *refusal
	for _, a := range queueArguments {
		value, given := m.Arguments.Lookup(a.name)
		only := typeWith[a.name]
		switch {
		case !given:
		case only == "" || only == kind:
			if why := a.take(value, &cmd.Args); why != "" && wrong == nil {
				wrong = refusef(frame.PreconditionFailed, "invalid arg '%s' for queue '%s' in vhost '/': %s", a.name, name, why)
			}
		case unknown == nil: // reported only if no argument has an invalid value
			unknown = refusef(frame.PreconditionFailed, "invalid arg '%s' for queue '%s' in vhost '/' of queue type rabbit_%s_queue", a.name, name, kind)
		}
	}
	return cmd, cmp.Or(wrong, unknown, beyond(m.Arguments, kind))
}

// ownTimeout is the argument with a queue's own consumer timeout; see [broker.Options].
const ownTimeout = "x-consumer-timeout"

// comparedArguments are the arguments that must be equal when a queue is declared again, in the order in which RabbitMQ
// compares them.
var comparedArguments = []string{
	"x-expires", "x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-dead-letter-strategy", "x-max-length",
	"x-max-length-bytes", "x-max-in-memory-length", "x-max-in-memory-bytes", "x-max-priority", "x-overflow", "x-queue-mode",
	"x-queue-version", "x-single-active-consumer", "x-queue-type", "x-quorum-initial-group-size", "x-delivery-limit",
	"x-queue-master-locator", "x-queue-leader-locator",
}

// typeWith maps an argument to the only queue type that supports it.
var typeWith = map[string]string{
	"x-max-priority": classic, "x-queue-mode": classic, "x-queue-version": classic, "x-queue-master-locator": classic,
	"x-dead-letter-strategy": "quorum", "x-max-in-memory-length": "quorum", "x-max-in-memory-bytes": "quorum",
	"x-quorum-initial-group-size": "quorum", "x-delivery-limit": "quorum",
}

// classic is the queue type of a declaration without x-queue-type.
const classic = "classic"

// queueType is the queue type that a declaration's arguments request.
func queueType(arguments frame.Table) string {
	if kind, _ := arguments.Lookup("x-queue-type"); kind == "quorum" || kind == "stream" {
		return kind.(string)
	}
	return classic
}

// queueArguments are the arguments that the model supports or may ignore, in the order in which RabbitMQ checks them.
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
	{"x-dead-letter-exchange", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasDeadLetterExchange
		return notText(v)
	}},
	{"x-dead-letter-routing-key", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasDeadLetterKey
		if why := notText(v); why != "" || a.Has&amqp.HasDeadLetterExchange != 0 {
			return why
		}
		return "routing_key_but_no_dlx_defined"
	}},
	{"x-dead-letter-strategy", func(v any, _ *amqp.Arguments) string {
		if v == "at-most-once" || v == "at-least-once" {
			return ""
		}
		return "invalid_dlx_strategy"
	}},
	{"x-max-length", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasMaxLength
		n, why := natural(v)
		a.MaxLength = uint32(min(n, math.MaxUint32))
		return why
	}},
	{"x-max-in-memory-length", notNatural}, // limits memory only, so the model has no use for it
	{"x-max-in-memory-bytes", notNatural},
	{"x-max-priority", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasMaxPriority
		n, why := natural(v)
		if why == "" && n > math.MaxUint8 {
			why = fmt.Sprintf("{max_value_exceeded,%d}", n)
		}
		a.MaxPriority = uint8(n)
		return why
	}},
	{"x-overflow", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasOverflow
		switch v {
		case "drop-head":
		case "reject-publish":
			a.Overflow = amqp.RejectPublish
		case "reject-publish-dlx":
			a.Overflow = amqp.RejectPublishDLX
		default:
			if _, text := v.(string); text {
				return "invalid_overflow"
			}
			return unacceptable(v)
		}
		return ""
	}},
	{"x-queue-mode", func(v any, _ *amqp.Arguments) string {
		mode, text := v.(string)
		switch {
		case !text:
			return unacceptable(v)
		case mode != "default" && mode != "lazy":
			return fmt.Sprintf("\"unsupported queue mode '%s'\"", mode)
		}
		return ""
	}},
	{"x-queue-version", func(v any, _ *amqp.Arguments) string {
		n, why := natural(v)
		if why == "" && n != 1 && n != 2 {
			why = fmt.Sprintf("\"unsupported queue version '%d'\"", n)
		}
		return why
	}},
	{"x-single-active-consumer", func(v any, a *amqp.Arguments) string {
		single, truth := v.(bool)
		switch {
		case !truth:
			return unacceptable(v)
		case single:
			a.Has |= amqp.SingleActive
		}
		return ""
	}},
	{"x-queue-type", func(v any, a *amqp.Arguments) string {
		kind, text := v.(string)
		switch {
		case !text:
			return unacceptable(v)
		case kind == "quorum":
			a.Has |= amqp.Quorum
		case kind != classic && kind != "stream":
			return fmt.Sprintf("\"unsupported queue type '%s'\"", kind)
		}
		return ""
	}},
	{"x-quorum-initial-group-size", func(v any, _ *amqp.Arguments) string { // without effect on a single node
		n, why := natural(v)
		if why == "" && n == 0 {
			return "{value_zero,0}"
		}
		return why
	}},
	{"x-delivery-limit", func(v any, a *amqp.Arguments) string {
		a.Has |= amqp.HasDeliveryLimit
		n, _ := integer(v)
		a.DeliveryLimit = uint32(min(max(n, 0), math.MaxUint32))
		return ""
	}},
	{"x-queue-master-locator", func(any, *amqp.Arguments) string { return "" }},
}

// notNatural is RabbitMQ's error text for a value that is not a natural number; "" if it is one.
func notNatural(v any, _ *amqp.Arguments) string {
	_, why := natural(v)
	return why
}

func notInteger(value any) string {
	return fmt.Sprintf("\"expected integer, got %s\"", typeName(value))
}

// notText is RabbitMQ's error text for a value that is not a string; "" if it is one.
func notText(value any) string {
	if _, text := value.(string); text {
		return ""
	}
	return fmt.Sprintf("{unacceptable_type,%s}", typeName(value))
}

func unacceptable(value any) string { return fmt.Sprintf("{unacceptable_type,%s}", typeName(value)) }

// natural is the value as a natural number. The text is RabbitMQ's error if it is not one.
func natural(value any) (int64, string) {
	n, ok := integer(value)
	switch {
	case !ok:
		return 0, notInteger(value)
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

// typeName is RabbitMQ's name for the type of a value in a table.
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

// compared describes the new and the old value of an argument as RabbitMQ's error text does. If both are given it names
// the values, otherwise values and types.
func compared(now any, given bool, before any, had bool) (received, current string) {
	if given && had {
		return "'" + valueText(now) + "'", "'" + valueText(before) + "'"
	}
	text := func(v any, given bool) string {
		if !given {
			return "none"
		}
		return fmt.Sprintf("the value '%s' of type '%s'", valueText(v), typeName(v))
	}
	return text(now, given), text(before, had)
}

// valueText is a value in RabbitMQ's notation.
func valueText(value any) string {
	text := fmt.Sprint(value)
	switch value.(type) {
	case float32, float64:
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
	}
	return text
}

// inequivalentExchange is RabbitMQ's error text for an exchange that is declared again with other properties.
func inequivalentExchange(now *frame.ExchangeDeclare, name string, before *broker.Exchange) string {
	for _, f := range []struct{ arg, now, before string }{
		{"type", now.Type, before.Type},
		{"durable", fmt.Sprint(now.Durable), fmt.Sprint(before.Durable)},
		{"auto_delete", fmt.Sprint(now.AutoDelete), fmt.Sprint(before.AutoDelete)},
		{"internal", fmt.Sprint(now.Internal), fmt.Sprint(before.Internal)},
	} {
		if f.now != f.before {
			return fmt.Sprintf("inequivalent arg '%s' for exchange '%s' in vhost '/': received '%s' but current is '%s'", f.arg, name, f.now, f.before)
		}
	}
	v, given := now.Arguments.Lookup(alternateArgument)
	received, current := compared(v, given, before.Alternate, before.Alternate != "")
	return fmt.Sprintf("inequivalent arg '%s' for exchange '%s' in vhost '/': received %s but current is %s", alternateArgument, name, received, current)
}

// inequivalent is RabbitMQ's error text for a queue that is declared again with other properties. For typed see
// differingArgument.
func inequivalent(name string, now, before *frame.QueueDeclare, typed bool) string {
	arg := func(name, queue, received, current string) string {
		return fmt.Sprintf("inequivalent arg '%s' for queue '%s' in vhost '/': received %s but current is %s", name, queue, received, current)
	}
	// An exclusive queue counts as not durable, even if it is declared as durable.
	durable := func(m *frame.QueueDeclare) bool { return m.Durable && !m.Exclusive }
	switch {
	case durable(now) != durable(before):
		return arg("durable", name, fmt.Sprintf("'%t'", durable(now)), fmt.Sprintf("'%t'", durable(before)))
	case now.AutoDelete != before.AutoDelete:
		return arg("auto_delete", name, fmt.Sprintf("'%t'", now.AutoDelete), fmt.Sprintf("'%t'", before.AutoDelete))
	}
	differing, received, current := differingArgument(now.Arguments, before.Arguments, typed)
	return arg(differing, name, received, current)
}

// differingArgument is the first argument in which two declarations of a queue differ, with RabbitMQ's texts for the
// two values; "" if none differs. If typed is set, a missing queue type counts as classic in the texts.
func differingArgument(now, before frame.Table, typed bool) (name, received, current string) {
	if len(now) == 0 && len(before) == 0 {
		return "", "", ""
	}
	kind := queueType(before)
	for _, name := range comparedArguments {
		if only := typeWith[name]; only != "" && only != kind {
			continue
		}
		v, given := now.Lookup(name)
		w, had := before.Lookup(name)
		switch {
		case name != "x-queue-type":
		case typed && (given || had):
			v, given, w, had = cmp.Or(v, any(classic)), true, cmp.Or(w, any(classic)), true
		case given != had && cmp.Or(v, w) == classic:
			continue
		}
		if received, current := compared(v, given, w, had); received != current {
			return name, received, current
		}
	}
	return "", "", ""
}

// otherwise is an argument bit that no queue has. A declaration with this bit never equals the existing queue's.
const otherwise amqp.ArgumentSet = 1 << 15
