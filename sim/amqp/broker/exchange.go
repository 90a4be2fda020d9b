package broker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
)

// Exchange has the properties with which an exchange was declared. Declaring it again requires the same properties.
type Exchange struct {
	Type                          string // direct, fanout, topic or headers
	Durable, AutoDelete, Internal bool
	Alternate                     string // name of the exchange for unrouted messages; "" means none
}

// predeclared are the exchanges that every broker has, besides the default exchange.
var predeclared = map[string]Exchange{
	"amq.direct":         {Type: "direct", Durable: true},
	"amq.fanout":         {Type: "fanout", Durable: true},
	"amq.topic":          {Type: "topic", Durable: true},
	"amq.headers":        {Type: "headers", Durable: true},
	"amq.match":          {Type: "headers", Durable: true},
	"amq.rabbitmq.trace": {Type: "topic", Durable: true, Internal: true},
}

// routing has the exchanges and bindings that clients have declared. It is nil before the first declaration; the
// reference locks declare none.
type routing struct {
	exchanges []exchange // declared by clients, ordered by name
	bindings  []binding  // ordered by source, destination, key and arguments
}

type exchange struct {
	name string
	Exchange
}

// binding is a rule that routes messages from an exchange to a queue or to another exchange.
type binding struct {
	source      string
	queue       amqp.Queue // 0 if the destination is an exchange
	destination string
	key         string
	headers     amqp.Headers
}

func (x *binding) compare(o *binding) int {
	return cmp.Or(cmp.Compare(x.source, o.source), cmp.Compare(x.queue, o.queue), cmp.Compare(x.destination, o.destination),
		cmp.Compare(x.key, o.key), cmp.Compare(x.headers, o.headers))
}

// Exchange returns the properties of the exchange with the given name, and whether it exists.
func (b *Broker) Exchange(name string) (Exchange, bool) {
	if x, ok := predeclared[name]; ok {
		return x, true
	}
	if b.routing == nil {
		return Exchange{}, false
	}
	i, ok := b.routing.exchange(name)
	if !ok {
		return Exchange{}, false
	}
	return b.routing.exchanges[i].Exchange, true
}

// exchange returns the index of the exchange that clients have declared with this name, and true. If there is none, it
// returns the index where it would be, and false.
func (r *routing) exchange(name string) (int, bool) {
	return slices.BinarySearchFunc(r.exchanges, name, func(x exchange, name string) int { return strings.Compare(x.name, name) })
}

// declareExchange answers exchange.declare.
func (b *Broker) declareExchange(on at, cmd *amqp.Command) amqp.Reply {
	r := b.names.Routing(cmd.Route)
	x, exists := b.Exchange(r.Exchange)
	wanted := Exchange{r.Type, cmd.Flags.Has(amqp.Durable), cmd.Flags.Has(amqp.AutoDelete), cmd.Flags.Has(amqp.Internal), r.Alternate}
	passive := cmd.Flags.Has(amqp.Passive)
	switch {
	case !passive && !slices.Contains([]string{"direct", "fanout", "topic", "headers"}, r.Type):
		if b.opts.Four {
			return b.fail(on, amqp.PreconditionFailed)
		}
		return b.endConnection(on.conn, amqp.CommandInvalid)
	case r.Exchange == "":
		return b.fail(on, amqp.AccessRefused)
	case passive && !exists:
		return b.fail(on, amqp.NotFound)
	case passive:
	case exists && x != wanted:
		return b.fail(on, amqp.PreconditionFailed)
	case exists:
	case strings.HasPrefix(r.Exchange, "amq."):
		return b.fail(on, amqp.AccessRefused)
	default:
		t := b.routes()
		i, _ := t.exchange(r.Exchange)
		t.exchanges = slices.Insert(t.exchanges, i, exchange{r.Exchange, wanted})
	}
	return ok
}

// routes returns the broker's routing, and creates it if it is nil.
func (b *Broker) routes() *routing {
	if b.routing == nil {
		b.routing = new(routing)
	}
	return b.routing
}

// deleteExchange answers exchange.delete. Deleting an exchange that does not exist succeeds.
func (b *Broker) deleteExchange(on at, cmd *amqp.Command) amqp.Reply {
	name := b.names.Routing(cmd.Route).Exchange
	_, exists := b.Exchange(name)
	switch {
	case name == "", strings.HasPrefix(name, "amq."):
		return b.fail(on, amqp.AccessRefused)
	case !exists:
	case cmd.Flags.Has(amqp.IfUnused) && b.routing.leads(name):
		return b.fail(on, amqp.PreconditionFailed)
	default:
		b.routing.delete(name)
	}
	return ok
}

// bind answers queue.bind and exchange.bind.
func (b *Broker) bind(on at, cmd *amqp.Command) amqp.Reply {
	r := b.names.Routing(cmd.Route)
	to := bindingOf(cmd, &r)
	code := b.bindable(&to, cmd)
	x, exists := b.Exchange(r.Exchange)
	switch {
	case code != 0:
	case !exists:
		code = amqp.NotFound
	case !b.reaches(&to):
		code = amqp.NotFound
	case x.Type == "headers" && !matchable(r.Headers):
		code = amqp.PreconditionFailed
	case to.queue != 0:
		_, code = b.accessible(on.conn, to.queue)
	}
	if code != 0 {
		return b.fail(on, code)
	}
	b.routes().bind(to)
	return ok
}

// unbind answers queue.unbind and exchange.unbind. Removing a missing binding succeeds, even if its exchange or queue
// is missing.
func (b *Broker) unbind(on at, cmd *amqp.Command) amqp.Reply {
	r := b.names.Routing(cmd.Route)
	from := bindingOf(cmd, &r)
	if code := b.bindable(&from, cmd); code != 0 {
		return b.fail(on, code)
	}
	if b.routing == nil {
		return ok
	}
	i, bound := b.routing.binding(&from)
	if !bound {
		return ok
	}
	if from.queue != 0 {
		if _, code := b.accessible(on.conn, from.queue); code != 0 {
			return b.fail(on, code)
		}
	}
	b.routing.bindings = slices.Delete(b.routing.bindings, i, i+1)
	b.routing.unused(from.source)
	return ok
}

// matchable reports whether the arguments of a binding have a valid x-match, or none.
func matchable(arguments amqp.Headers) bool {
	_, _, ok := matching(arguments)
	return ok
}

// bindingOf returns the binding that a command names.
func bindingOf(cmd *amqp.Command, r *amqp.Routing) binding {
	x := binding{source: r.Exchange, key: r.Key, headers: r.Headers}
	if cmd.Method == amqp.ExchangeBind || cmd.Method == amqp.ExchangeUnbind {
		x.destination = r.Destination
	} else {
		x.queue = cmd.Queue
	}
	return x
}

// bindable returns the error of an impossible binding; 0 if it is possible. The default exchange can be neither source
// nor destination.
func (b *Broker) bindable(x *binding, cmd *amqp.Command) amqp.Code {
	toExchange := cmd.Method == amqp.ExchangeBind || cmd.Method == amqp.ExchangeUnbind
	switch {
	case x.source == "", toExchange && x.destination == "":
		return amqp.AccessRefused
	case !toExchange && x.queue == 0: // the queue must be named
		return amqp.NotFound
	}
	return 0
}

// reaches reports whether the destination of a binding exists.
func (b *Broker) reaches(x *binding) bool {
	if x.queue != 0 {
		return b.place(x.queue).exists
	}
	_, exists := b.Exchange(x.destination)
	return exists
}

func (r *routing) binding(x *binding) (int, bool) {
	return slices.BinarySearchFunc(r.bindings, x, func(o binding, x *binding) int { return o.compare(x) })
}

func (r *routing) bind(x binding) {
	if i, bound := r.binding(&x); !bound {
		r.bindings = slices.Insert(r.bindings, i, x)
	}
}

// leads reports whether the exchange with the name from is the source of any binding.
func (r *routing) leads(from string) bool {
	return slices.ContainsFunc(r.bindings, func(x binding) bool { return x.source == from })
}

// delete deletes an exchange, with all bindings from it and to it.
func (r *routing) delete(name string) {
	if i, ok := r.exchange(name); ok {
		r.exchanges = slices.Delete(r.exchanges, i, i+1)
	}
	r.bindings = slices.DeleteFunc(r.bindings, func(x binding) bool { return x.source == name })
	r.unbindAll(func(x *binding) bool { return x.queue == 0 && x.destination == name })
}

// unbindAll removes the bindings for which meant returns true. Then it deletes auto-delete exchanges that have no
// binding left.
func (r *routing) unbindAll(meant func(*binding) bool) {
	var sources []string
	r.bindings = slices.DeleteFunc(r.bindings, func(x binding) bool {
		if !meant(&x) {
			return false
		}
		sources = append(sources, x.source)
		return true
	})
	for _, s := range sources {
		r.unused(s)
	}
}

// unused deletes an auto-delete exchange that has no binding left.
func (r *routing) unused(name string) {
	if i, ok := r.exchange(name); ok && r.exchanges[i].AutoDelete && !r.leads(name) {
		r.delete(name)
	}
}

// restart keeps durable exchanges, and the bindings between durable exchanges and durable queues.
func (r *routing) restart(b *Broker) {
	r.exchanges = slices.DeleteFunc(r.exchanges, func(x exchange) bool { return !x.Durable })
	r.bindings = slices.DeleteFunc(r.bindings, func(x binding) bool {
		from, _ := b.Exchange(x.source)
		to, _ := b.Exchange(x.destination)
		return !from.Durable || x.queue == 0 && !to.Durable || x.queue != 0 && !b.queues[x.queue].durable
	})
}

func (r *routing) reset() { r.exchanges, r.bindings = r.exchanges[:0], r.bindings[:0] }
