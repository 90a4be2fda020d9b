package amqp

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
)

// Route is a [Routing], interned in a [Names]. The zero value is the default exchange, by which a message
// reaches the queue that it names.
type Route uint16

// Routing is what a command says of exchanges.
type Routing struct {
	Exchange    string  // declared, deleted or published to; of a binding, where messages come from
	Type        string  // of exchange.declare: direct, fanout, topic or headers
	Alternate   string  // of exchange.declare: where messages go that no binding takes; "" is nowhere
	Destination string  // of exchange.bind and exchange.unbind: the exchange that messages go to
	Key         string  // of a message or a binding
	Headers     Headers // of a message; of a binding, its arguments
}

// InternRoute returns the number of a routing, giving it the next one when it is new.
func (n *Names) InternRoute(r Routing) Route { return n.routes.number(r) }

// Routing returns the routing behind a number, and the zero value for the default exchange.
func (n *Names) Routing(r Route) Routing { return n.routes.value(r) }

// Routes is how many routings were interned; they are numbered 1 to Routes.
func (n *Names) Routes() int { return len(n.routes.values) }

// ForgetRoutes frees all numbers of routings, for callers with a new routing for every command. Brokers do not keep
// them.
func (n *Names) ForgetRoutes() {
	clear(n.routes.numbers)
	n.routes.values = n.routes.values[:0]
}

// Headers are names with values, in a form that is equal where they are. The zero value has none.
type Headers string

// Present is the value of a binding's argument that asks for a header of that name with any value.
const Present = "\x00"

// NewHeaders returns headers. Values are text. A caller with values of other types must write values equally if a
// broker takes them for equal.
func NewHeaders(values map[string]string) Headers {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, s := range [...]string{name, values[name]} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	return Headers(b)
}

// All are the headers, by name.
func (h Headers) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for rest := string(h); rest != ""; {
			var name, value string
			name, rest = cutHeader(rest)
			value, rest = cutHeader(rest)
			if !yield(name, value) {
				return
			}
		}
	}
}

// cutHeader takes a text off the front.
func cutHeader(s string) (text, rest string) {
	n, size := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
	return s[size : size+int(n)], s[size+int(n):]
}

// Lookup is the value of a header.
func (h Headers) Lookup(name string) (value string, ok bool) {
	for n, v := range h.All() {
		if n == name {
			return v, true
		}
	}
	return "", false
}
