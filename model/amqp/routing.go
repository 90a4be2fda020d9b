package amqp

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
)

// Route is a [Routing], interned in a [Names]. The zero value is the default exchange, where a message reaches the
// queue that it names.
type Route uint16

// Routing is the part of a command that concerns exchanges.
type Routing struct {
	Exchange    string  // declared, deleted or published to; of a binding, its source
	Type        string  // of exchange.declare: direct, fanout, topic or headers
	Alternate   string  // of exchange.declare: where unrouted messages go; "" is nowhere
	Destination string  // of exchange.bind and exchange.unbind: the target exchange
	Key         string  // of a message or a binding
	Headers     Headers // of a message; of a binding, its arguments
}

// InternRoute returns the number of a routing; a new routing gets the next number.
func (n *Names) InternRoute(r Routing) Route { return n.routes.number(r) }

// Routing returns the routing with a number, and the zero value for the default exchange.
func (n *Names) Routing(r Route) Routing { return n.routes.value(r) }

// Routes is the number of interned routings; they are numbered 1 to Routes.
func (n *Names) Routes() int { return len(n.routes.values) }

// ForgetRoutes frees all numbers of routings. It serves callers that have a new routing for every command. Brokers do
// not keep these numbers.
func (n *Names) ForgetRoutes() {
	clear(n.routes.numbers)
	n.routes.values = n.routes.values[:0]
}

// Headers are names with values, in a normal form: equal headers are equal strings. The zero value has none.
type Headers string

// Present is the value in a binding's arguments that matches a header of that name with any value.
const Present = "\x00"

// NewHeaders returns headers with text values. A caller with values of other types must convert values that a broker
// considers equal to the same text.
func NewHeaders(values map[string]string) Headers {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, s := range [...]string{name, values[name]} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	return Headers(b)
}

// All are the headers, ordered by name.
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

// cutHeader cuts a text off the front.
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
