package plugin

import (
	"maps"
	"slices"
	"sync"
)

// Notes is a register of the queues and exchanges that clients create on a real broker. They can then be deleted at the
// end or, if this process is killed, by a later run.
type Notes interface {
	// Note registers a queue or an exchange before it is created. One of the two names is "".
	Note(queue, exchange string)
	// Forget removes deleted queues from the register.
	Forget(queues []string)
	// Prefix is a new prefix for names of queues. The register recognises the process that created a queue by it.
	Prefix() string
}

// Declared is the set of queues that clients have declared. It is safe for concurrent use.
type Declared struct {
	mu     sync.Mutex
	queues map[string]bool
}

// Queues is the names of the declared queues, sorted.
func (n *Declared) Queues() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.queues))
}

// Gone removes the queues that no longer exist, and returns their names.
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

// Take records a queue that a client is about to declare.
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
