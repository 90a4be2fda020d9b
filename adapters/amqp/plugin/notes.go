package plugin

import (
	"maps"
	"slices"
	"sync"
)

// Notes keeps account of what clients make on a real broker, so that it can be deleted at the end, or later, should we be
// killed.
type Notes interface {
	// Note registers a queue or an exchange before it is made; the other name is "".
	Note(queue, exchange string)
	// Forget removes queues that are known to be gone from the register.
	Forget(queues []string)
	// Prefix begins the names of a set of queues, so that the register shows whose they are.
	Prefix() string
}

// Declared is the queues that clients have declared. It is safe for concurrent use.
type Declared struct {
	mu     sync.Mutex
	queues map[string]bool
}

// Queues are their names, sorted.
func (n *Declared) Queues() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.queues))
}

// Gone forgets the queues that do not exist any more, and gives their names.
func (n *Declared) Gone(exists func(string) bool) (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name := range n.queues {
		if !exists(name) {
			names = append(names, name)
			delete(n.queues, name)
		}
	}
	return names
}

// Take notes what a client is about to declare.
func (n *Declared) Take(queue string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.queues == nil {
		n.queues = make(map[string]bool)
	}
	if queue != "" {
		n.queues[queue] = true
	}
}
