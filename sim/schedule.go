package sim

import "github.com/lockproof/lockproof/model/scenario"

var _ scenario.World = (*World)(nil)

// SentBy returns the number of commands that a client has sent since its first connection.
func (w *World) SentBy(c uint8) uint16 { return w.clients[c-1].sent }

// Ways returns the number of values from which a client can choose for a random option now; 0 if it has no choice to
// make.
func (w *World) Ways(c uint8) int {
	if !w.clients[c-1].busy {
		return 0
	}
	return w.cluster.Choices(c)
}

// Undetected returns a client with a half-open connection: dead, but not yet detected by the broker. 0 means that there
// is none.
func (w *World) Undetected() uint8 {
	if len(w.halfOpen) == 0 {
		return 0
	}
	return w.halfOpen[0].client
}

// Wake returns the number of milliseconds until the first paused client continues. If no client is paused, it returns
// the time until the next lease ends. 0 means that there is no such moment.
func (w *World) Wake() int64 {
	wake := int64(0)
	for i := range w.clients {
		cl := &w.clients[i]
		if cl.wake > w.now && w.unfinished(uint8(i+1)) && (wake == 0 || cl.wake < wake) {
			wake = cl.wake
		}
	}
	if wake == 0 && w.leases && w.pending() {
		wake, _ = w.cluster.NextTimer()
		return wake
	}
	return max(0, wake-w.now)
}

// pending reports whether a client can still do something, now or after its hold has ended.
func (w *World) pending() bool {
	for i := range w.clients {
		if cl := &w.clients[i]; w.unfinished(uint8(i+1)) || !cl.dead && int(cl.next) < len(w.scenario.Clients[i].Ops) {
			return true
		}
	}
	return false
}
