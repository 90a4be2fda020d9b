package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// onExchange handles the methods of class exchange.
func (x *simSession) onExchange(ch *simChannel, m frame.Method) *refusal {
	switch m := m.(type) {
	case *frame.ExchangeDeclare:
		return x.declareExchange(ch, m)
	case *frame.ExchangeDelete:
		return x.deleteExchange(ch, m)
	case *frame.ExchangeBind:
		b := &bindingOf{ch: ch, method: amqp.ExchangeBind, ok: &frame.ExchangeBindOk{}, noWait: m.NoWait, arguments: m.Arguments,
			routing: amqp.Routing{Exchange: m.Source, Destination: m.Destination, Key: m.RoutingKey}}
		return x.route(b)
	case *frame.ExchangeUnbind:
		b := &bindingOf{ch: ch, method: amqp.ExchangeUnbind, ok: &frame.ExchangeUnbindOk{}, noWait: m.NoWait, arguments: m.Arguments,
			routing: amqp.Routing{Exchange: m.Source, Destination: m.Destination, Key: m.RoutingKey}}
		return x.route(b)
	}
	return unimplemented()
}

func (x *simSession) declareExchange(ch *simChannel, m *frame.ExchangeDeclare) *refusal {
	name := withoutEnds(m.Exchange)
	cmd := amqp.Command{Method: amqp.ExchangeDeclare}
	for i, set := range [...]bool{m.Passive, m.Durable, m.AutoDelete, m.Internal} {
		if set {
			cmd.Flags |= [...]amqp.Flags{amqp.Passive, amqp.Durable, amqp.AutoDelete, amqp.Internal}[i]
		}
	}
	alternate, given := m.Arguments.Lookup(alternateArgument)
	_, text := alternate.(string)
	before, existed := x.host.broker.Exchange(name)
	if given && !text && !existed && !m.Passive {
		return refusef(frame.PreconditionFailed, "invalid type '%s' for arg '%s' in exchange '%s' in vhost '/'", typeName(alternate), alternateArgument, name)
	}
	r := amqp.Routing{Exchange: name, Type: m.Type}
	if given {
		r.Alternate = headerText(alternate, false)
	}
	cmd.Route = x.host.queues.route(r)
	switch _, code := x.apply(ch, cmd); code {
	case 0:
	case frame.CommandInvalid:
		return refusef(code, "unknown exchange type '%s'", m.Type)
	case frame.NotFound:
		return noExchange(name)
	case frame.AccessRefused:
		if name == "" {
			return onDefaultExchange()
		}
		return refusef(code, "exchange name '%s' contains reserved prefix 'amq.*'", name)
	default:
		if !existed || !slices.Contains(exchangeTypes, m.Type) {
			return refusef(code, "unknown exchange type '%s'", m.Type)
		}
		return refusef(code, "%s", inequivalentExchange(m, name, &before))
	}
	if !m.NoWait {
		x.answer(ch.number, &frame.ExchangeDeclareOk{})
	}
	return nil
}

var exchangeTypes = []string{"direct", "fanout", "topic", "headers"}

// alternateArgument is the only argument of an exchange that the model has.
const alternateArgument = "alternate-exchange"

func (x *simSession) deleteExchange(ch *simChannel, m *frame.ExchangeDelete) *refusal {
	name := withoutEnds(m.Exchange)
	cmd := amqp.Command{Method: amqp.ExchangeDelete, Route: x.host.queues.route(amqp.Routing{Exchange: name})}
	if m.IfUnused {
		cmd.Flags = amqp.IfUnused
	}
	switch _, code := x.apply(ch, cmd); {
	case code == frame.PreconditionFailed:
		return refusef(code, "exchange '%s' in vhost '/' in use", name)
	case code != 0 && name == "":
		return onDefaultExchange()
	case code != 0:
		return refusef(code, "deletion of system exchange '%s' in vhost '/' not allowed", name)
	case !m.NoWait:
		x.answer(ch.number, &frame.ExchangeDeleteOk{})
	}
	return nil
}

// bindingOf is a request to create or remove a binding of a queue or an exchange.
type bindingOf struct {
	ch        *simChannel
	method    amqp.Method
	queue     string // the bound queue; "" if an exchange is bound
	routing   amqp.Routing
	arguments frame.Table
	ok        frame.Method
	noWait    bool
}

// route creates or removes the binding b.
func (x *simSession) route(b *bindingOf) *refusal {
	r := &b.routing
	r.Exchange, r.Destination, r.Headers = withoutEnds(r.Exchange), withoutEnds(r.Destination), x.headersOf(b.arguments)
	cmd := amqp.Command{Method: b.method, Route: x.host.queues.route(*r)}
	if b.queue != "" {
		cmd.Queue = x.host.queues.lookup(b.queue)
	}
	if _, code := x.apply(b.ch, cmd); code != 0 {
		return x.notBound(code, b)
	}
	if !b.noWait {
		x.answer(b.ch.number, b.ok)
	}
	return nil
}

// notBound is RabbitMQ's error for a binding that cannot be created or removed.
func (x *simSession) notBound(code frame.Code, b *bindingOf) *refusal {
	_, there := x.host.broker.Exchange(b.routing.Exchange)
	switch {
	case code == frame.AccessRefused:
		return onDefaultExchange()
	case code == frame.PreconditionFailed:
		how, _ := b.arguments.Lookup("x-match")
		if _, text := how.(string); !text {
			return refusef(code, "Invalid x-match field type %s (value %v); expected longstr", typeName(how), how)
		}
		return refusef(code, "Invalid x-match field value <<\"%s\">>; expected all, any, all-with-x, or any-with-x", how)
	case code == frame.NotFound && !there:
		return noExchange(b.routing.Exchange)
	case code == frame.NotFound && b.queue == "":
		return noExchange(b.routing.Destination)
	}
	return aboutQueue(code, b.queue)
}

// endsOfLines removes line breaks from names, as RabbitMQ does.
var endsOfLines = strings.NewReplacer("\r", "", "\n", "")

func withoutEnds(name string) string {
	if strings.ContainsAny(name, "\r\n") {
		return endsOfLines.Replace(name)
	}
	return name
}

// headersOf converts headers to the model's form, in which equal values have equal texts. Numbers of different types
// can be equal, but with RabbitMQ 4 an integer never equals a floating-point number. Other values of different types
// are never equal.
func (x *simSession) headersOf(t frame.Table) amqp.Headers {
	if len(t) == 0 {
		return ""
	}
	values := make(map[string]string)
	for name, value := range t.All() {
		values[name] = headerText(value, x.s.opts.Broker.Four)
	}
	return amqp.NewHeaders(values)
}

// numberText is the text of a floating-point number. If typed is set, it differs from the text of an equal integer.
func numberText(v float64, typed bool) string {
	if typed {
		return fmt.Sprint(amqp.Present, "float ", v)
	}
	return fmt.Sprint(amqp.Present, "number ", v)
}

// headerText is a text that is the same for equal header values, and only for those. If typed is set, integers never
// equal floating-point numbers.
func headerText(value any, typed bool) string {
	if n, ok := integer(value); ok {
		return fmt.Sprint(amqp.Present, "number ", n)
	}
	switch v := value.(type) {
	case nil:
		return amqp.Present
	case string:
		return v
	case float32:
		return numberText(float64(v), typed)
	case float64:
		return numberText(v, typed)
	}
	return fmt.Sprintf("%s%s %v", amqp.Present, typeName(value), value)
}
