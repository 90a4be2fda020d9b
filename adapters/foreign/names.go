package foreign

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
)

// names are what traces call the queues of a run: without the part of a lock's name that differs from run to run. A queue
// from whose name no lock can be read may be called otherwise in each run: its place in the order of first use names it.
type names struct {
	here    string          // what lock names begin with in this run
	before  map[string]bool // the queues that there were before it
	aliases map[string]string
	all     amqp.Names
}

// canonical is a queue's name in traces.
func (n *names) canonical(name string) string {
	switch {
	case name == "" || n.before[name]:
		return name
	case strings.Contains(name, n.here):
		return strings.Replace(name, n.here, "", 1)
	}
	if n.aliases[name] == "" {
		n.aliases[name] = fmt.Sprintf("queue %d", len(n.aliases)+1)
	}
	return n.aliases[name]
}

// queue is the number of a queue in traces; 0 is none.
func (n *names) queue(name string) amqp.Queue {
	if name == "" {
		return 0
	}
	return n.all.Intern(n.canonical(name))
}
