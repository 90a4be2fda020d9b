package amqp

import "strings"

// Queue is the name of a queue, interned in a [Names]. The zero value is no queue.
type Queue uint16

// Names interns queue names and routings. Interning is not safe for concurrent use; looking up is, once all
// names are there. The zero value is ready to use.
type Names struct {
	ids      map[string]Queue
	names    []string
	routeIDs map[Routing]Route
	routes   []Routing
}

// Intern returns the number of a name, giving it the next one when it is new.
func (n *Names) Intern(name string) Queue {
	if id, ok := n.ids[name]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = make(map[string]Queue)
	}
	n.names = append(n.names, name)
	id := Queue(len(n.names))
	n.ids[name] = id
	return id
}

// Rename gives a number another name, which has none yet.
func (n *Names) Rename(q Queue, name string) {
	if before := n.names[q-1]; n.ids[before] == q {
		delete(n.ids, before)
	}
	n.names[q-1], n.ids[name] = name, q
}

// Name returns the name behind a number, and "" for no queue.
func (n *Names) Name(q Queue) string {
	if q == 0 || int(q) > len(n.names) {
		return ""
	}
	return n.names[q-1]
}

// Lookup returns the number of a name that was interned before.
func (n *Names) Lookup(name string) (Queue, bool) {
	id, ok := n.ids[name]
	return id, ok
}

// Len is how many names were interned; they are numbered 1 to Len.
func (n *Names) Len() int { return len(n.names) }

// Reserved reports whether a name is the broker's own: declaring it is refused with 403 (FACTS B19).
func (n *Names) Reserved(q Queue) bool { return strings.HasPrefix(n.Name(q), "amq.") }
