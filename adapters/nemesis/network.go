package nemesis

import (
	"sync"

	"github.com/lockproof/lockproof/model/history"
)

// Network decides which node's messages arrive at which other node. Node numbers begin with 0. Silenced messages are
// delayed, as in a network that retransmits lost packets.
type Network struct {
	mu      sync.Mutex
	changed *sync.Cond
	silent  [][]bool // indexed by sender, then by receiver
	over    bool
}

// NewNetwork returns a network of the given number of nodes, in which everything arrives.
func NewNetwork(nodes int) *Network {
	n := &Network{silent: make([][]bool, nodes)}
	for i := range n.silent {
		n.silent[i] = make([]bool, nodes)
	}
	n.changed = sync.NewCond(&n.mu)
	return n
}

// Nodes returns the number of nodes in the network.
func (n *Network) Nodes() int { return len(n.silent) }

// Silence stops messages of one node from arriving at another or, if silent is false, lets them arrive again.
func (n *Network) Silence(from, to int, silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent[from][to] = silent
	n.changed.Broadcast()
}

// Befall applies s to the network if s begins or ends a cut, and returns true. For other steps it returns false.
func (n *Network) Befall(s Step) bool {
	switch s.F {
	case history.Cut:
		for _, from := range s.Nodes.List() {
			for _, to := range s.To.List() {
				n.Silence(from-1, to-1, true)
			}
		}
	case history.Heal:
		n.Heal()
	default:
		return false
	}
	return true
}

// Heal lets all messages arrive again.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, to := range n.silent {
		clear(to)
	}
	n.changed.Broadcast()
}

// await waits until messages from one node arrive at another. It returns false if the network is closed. Messages from or to
// [Outside] are never silenced.
func (n *Network) await(from, to int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for from >= 0 && to >= 0 && n.silent[from][to] && !n.over {
		n.changed.Wait()
	}
	return !n.over
}

// Close drops all delayed messages and ends all waiting.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	n.changed.Broadcast()
}
