package rabbitmq

import (
	"fmt"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// maxName is the maximum length of a queue's name, in bytes.
const maxName = 255

// namesOf are the names that a trace's commands contain.
func namesOf(t *scenario.Trace) *amqp.Names {
	for i := range t.Setup {
		if s := amqp.SentIn(t.Setup[i].Payload); s.Names != nil {
			return s.Names
		}
	}
	return new(amqp.Names)
}

// prefixed is the same names with the same numbers, and a prefix before each. Equal names stay equal, different ones stay
// different, and no name is reserved by the broker any more.
func prefixed(names *amqp.Names, prefix string) (*amqp.Names, error) {
	out := new(amqp.Names)
	for q := range names.Len() {
		name := names.Name(amqp.Queue(q + 1))
		if len(prefix+name) > maxName {
			return nil, fmt.Errorf("queue %q: its name has %d bytes, and %d at most leave room for the prefix that is put before it; use a shorter lock name",
				name, len(name), maxName-len(prefix))
		}
		out.Intern(prefix + name)
	}
	return out, nil
}
