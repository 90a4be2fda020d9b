package cluster

import "sync"

// network says which node's messages arrive at which other node. Nodes count from 0. Silenced messages wait, as in a
// network that repeats unconfirmed packets.
type network struct {
	mu      sync.Mutex
	changed *sync.Cond
	silent  [][]bool // by sender, then by receiver
	over    bool
}

func newNetwork(nodes int) *network {
	n := &network{silent: make([][]bool, nodes)}
	for i := range n.silent {
		n.silent[i] = make([]bool, nodes)
	}
	n.changed = sync.NewCond(&n.mu)
	return n
}

// silence has messages from one node not arrive at another, or arrive again.
func (n *network) silence(from, to int, silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent[from][to] = silent
	n.changed.Broadcast()
}

// await waits until messages from one node arrive at another. It is false when the network is taken down.
func (n *network) await(from, to int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.silent[from][to] && !n.over {
		n.changed.Wait()
	}
	return !n.over
}

// close ends all waiting.
func (n *network) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	n.changed.Broadcast()
}
