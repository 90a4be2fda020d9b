package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// Keeping is a [Cluster] that keeps its state aside by copying, which takes a fraction of the time of reading it from an
// image. A search keeps a state before the first of its actions, and returns to it before each of the others.
type Keeping interface {
	// Keep keeps the state of the servers and machines aside. Return goes back to what was kept last, which stays kept. In
	// between come steps of the same scenario.
	Keep()
	Return()
}

// keptState is a state of a system that was kept aside, but for what the cluster keeps.
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

// Keep keeps the state at hand aside for [System.Return], and reports whether its backend can do so.
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

// Return goes back to the state that was kept last.
func (s *System) Return() {
	w, k := &s.world, &s.kept
	w.cluster.(Keeping).Return()
	s.left, w.now, w.shared, w.clocks, w.truth, w.Monitor = k.left, k.now, k.shared, k.clocks, k.truth, k.monitor
	w.clients = append(w.clients[:0], k.clients...)
	w.halfOpen = append(w.halfOpen[:0], k.halfOpen...)
	w.owners = append(w.owners[:0], k.owners...)
}
