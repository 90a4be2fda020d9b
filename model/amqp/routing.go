package amqp

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
)

// Route is the number of a [Routing] in a [Names]; 0 is the default exchange, which delivers a message to the queue
// named by its routing key.
type Route uint16

// Routing is the part of a command that concerns exchanges: names, keys and headers.
type Routing struct {
	Exchange    string  // the exchange declared, deleted or published to; the source of a binding
	Type        string  // of exchange.declare: direct, fanout, topic or headers
	Alternate   string  // of exchange.declare: the exchange for unrouted messages; "" is none
	Destination string  // of exchange.bind and exchange.unbind: the target exchange
	Key         string  // the routing key of a message or a binding
	Headers     Headers // the headers of a message, or the arguments of a binding
}

// InternRoute returns the number of a routing. A new routing gets the next free number.
func (n *Names) InternRoute(r Routing) Route { return n.routes.number(r) }

// Routing returns the routing with the number r; the zero value for the default exchange.
func (n *Names) Routing(r Route) Routing { return n.routes.value(r) }

// Routes is the number of routings in n; they have the numbers 1 to Routes.
func (n *Names) Routes() int { return len(n.routes.values) }

// ForgetRoutes frees the numbers of all routings. It is for callers that use a new routing for every command. Simulated
// brokers do not store these numbers.
func (n *Names) ForgetRoutes() {
	clear(n.routes.numbers)
	n.routes.values = n.routes.values[:0]
}

// Headers are names with values, encoded so that equal headers are equal strings. The zero value has no headers.
type Headers string

// Present is a value in a binding's arguments: it matches any value of the header with that name.
const Present = "\x00"

// NewHeaders encodes headers with text values. A caller that has values of other types converts them first. Values that
// a broker takes for equal must become the same text.
func NewHeaders(values map[string]string) Headers {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, s := range [...]string{name, values[name]} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	return Headers(b)
}

// All yields the headers as names and values, ordered by name.
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

// cutHeader splits the first name or value off an encoding; rest is what follows.
func cutHeader(s string) (text, rest string) {
	n, size := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
	return s[size : size+int(n)], s[size+int(n):]
}

// Lookup is the value of the header with that name, and whether there is one.
func (h Headers) Lookup(name string) (value string, ok bool) {
	for n, v := range h.All() {
		if n == name {
			return v, true
		}
	}
	return "", false
}
