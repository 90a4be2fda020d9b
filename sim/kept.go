package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// Keeping is a [Cluster] that can save a copy of its state in memory, which is much faster than decoding an image. A
// search saves a state before its first action, and restores it before each further action.
type Keeping interface {
	// Keep saves a copy of the state of the servers and machines. Return restores the last copy, which stays valid.
	// Between the two calls come steps of the same scenario.
	Keep()
	Return()
}

// keptState is the saved copy of a system's state, without what the cluster saves itself.
type keptState struct {
	left     FaultBounds
	now      int64
	shared   backend.Session
	clocks   Clocks
	clients  []client
	halfOpen []halfOpen
	owners   []uint8
	truth    [lock.MaxLocks]monitor.Truth
	monitor  monitor.Monitor
}

// Keep saves a copy of the current state, which [System.Return] restores. It returns false if the backend cannot do
// this.
func (s *System) Keep() bool {
	w, k := &s.world, &s.kept
	cluster, ok := w.cluster.(Keeping)
	if !ok {
		return false
	}
	cluster.Keep()
	k.left, k.now, k.shared, k.clocks, k.truth, k.monitor = s.left, w.now, w.shared, w.clocks, w.truth, w.Monitor
	k.clients = append(k.clients[:0], w.clients...)
	k.halfOpen = append(k.halfOpen[:0], w.halfOpen...)
	k.owners = append(k.owners[:0], w.owners...)
	return true
}

// Return restores the copy of the state that Keep saved last.
func (s *System) Return() {
	w, k := &s.world, &s.kept
	w.cluster.(Keeping).Return()
	s.left, w.now, w.shared, w.clocks, w.truth, w.Monitor = k.left, k.now, k.shared, k.clocks, k.truth, k.monitor
	w.clients = append(w.clients[:0], k.clients...)
	w.halfOpen = append(w.halfOpen[:0], k.halfOpen...)
	w.owners = append(w.owners[:0], k.owners...)
}
