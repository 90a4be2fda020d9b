package amqp

import "strings"

// Queue is the name of a queue, interned in a [Names]. The zero value is no queue.
type Queue uint16

// Names interns queue names and routings. Interning is not safe for concurrent use; looking up is, once all
// names are there. The zero value is ready to use.
type Names struct {
	queues interned[string, Queue]
	routes interned[Routing, Route]
}

// interned numbers values from 1; 0 is the zero value.
type interned[V comparable, N ~uint16] struct {
	numbers map[V]N
	values  []V
}

// number returns the number of a value; a new value gets the next number.
func (t *interned[V, N]) number(v V) N {
	if n, ok := t.numbers[v]; ok {
		return n
	}
	if t.numbers == nil {
		t.numbers = make(map[V]N)
	}
	t.values = append(t.values, v)
	n := N(len(t.values))
	t.numbers[v] = n
	return n
}

// value returns the value with a number, or the zero value for an unused number.
func (t *interned[V, N]) value(n N) (v V) {
	if n == 0 || int(n) > len(t.values) {
		return v
	}
	return t.values[n-1]
}

// Intern returns the number of a name; a new name gets the next number.
func (n *Names) Intern(name string) Queue { return n.queues.number(name) }

// Rename gives a number another name, which must be new.
func (n *Names) Rename(q Queue, name string) {
	t := &n.queues
	if before := t.values[q-1]; t.numbers[before] == q {
		delete(t.numbers, before)
	}
	t.values[q-1], t.numbers[name] = name, q
}

// Name returns the name with a number, and "" for no queue.
func (n *Names) Name(q Queue) string { return n.queues.value(q) }

// Lookup returns the number of a name, and whether the name has been interned.
func (n *Names) Lookup(name string) (Queue, bool) {
	q, ok := n.queues.numbers[name]
	return q, ok
}

// Len is the number of interned names; they are numbered 1 to Len.
func (n *Names) Len() int { return len(n.queues.values) }

// Reserved reports whether a name is reserved to the broker: declaring it is refused with 403 (FACTS B19).
func (n *Names) Reserved(q Queue) bool { return strings.HasPrefix(n.Name(q), "amq.") }
