package rabbitmq

import (
	"fmt"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// maxName is the maximum length of a queue's name, in bytes.
const maxName = 255

// namesOf are the names of queues and exchanges in a trace's commands.
func namesOf(t *scenario.Trace) *amqp.Names {
	for i := range t.Setup {
		if s := amqp.SentIn(t.Setup[i].Payload); s.Names != nil {
			return s.Names
		}
	}
	return new(amqp.Names)
}

// prefixed is the names with a prefix before each and the same numbers. No name is then reserved by the broker. The
// error is for a name that becomes too long.
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
