package amqp

import "strings"

// Queue is the number of a queue's name in a [Names]; 0 is no queue.
type Queue uint16

// Names gives numbers to queue names and routings. Adding new ones is not safe for concurrent use, but looking up
// existing ones is. The zero value is ready to use.
type Names struct {
	queues interned[string, Queue]
	routes interned[Routing, Route]
}

// interned gives numbers, from 1, to values. Number 0 stands for the zero value.
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

// Rename changes the name that has the number q. The new name must not have a number yet.
func (n *Names) Rename(q Queue, name string) {
	t := &n.queues
	if before := t.values[q-1]; t.numbers[before] == q {
		delete(t.numbers, before)
	}
	t.values[q-1], t.numbers[name] = name, q
}

// Name returns the name with the number q, and "" if there is none.
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
