package nemesis

import (
	"sync"

	"github.com/lockproof/lockproof/model/history"
)

// Network says which node's messages arrive at which other node. Nodes count from 0. Silenced messages wait, as in a
// network that repeats unconfirmed packets.
type Network struct {
	mu      sync.Mutex
	changed *sync.Cond
	silent  [][]bool // by sender, then by receiver
	over    bool
}

// NewNetwork is a network of so many nodes, in which everything arrives.
func NewNetwork(nodes int) *Network {
	n := &Network{silent: make([][]bool, nodes)}
	for i := range n.silent {
		n.silent[i] = make([]bool, nodes)
	}
	n.changed = sync.NewCond(&n.mu)
	return n
}

// Nodes is how many nodes there are.
func (n *Network) Nodes() int { return len(n.silent) }

// Silence has messages from one node not arrive at another, or arrive again.
func (n *Network) Silence(from, to int, silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent[from][to] = silent
	n.changed.Broadcast()
}

// Befall has a cut or its end befall the network. It is false for other steps, which befall nodes.
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

// Heal has everything arrive everywhere again.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, to := range n.silent {
		clear(to)
	}
	n.changed.Broadcast()
}

// await waits until messages from one node arrive at another. It is false when the network is taken down. What is no node is
// never silenced.
func (n *Network) await(from, to int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for from >= 0 && to >= 0 && n.silent[from][to] && !n.over {
		n.changed.Wait()
	}
	return !n.over
}

// Close ends all waiting.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	n.changed.Broadcast()
}
