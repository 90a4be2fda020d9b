package sim

import "github.com/lockproof/lockproof/model/scenario"

var _ scenario.World = (*World)(nil)

// SentBy is the number of commands that a client has sent since it was connected.
func (w *World) SentBy(c uint8) uint16 { return w.clients[c-1].sent }

// Ways is the number of values that the client's random option has now; 0 if there is nothing to choose.
func (w *World) Ways(c uint8) int {
	if !w.clients[c-1].busy {
		return 0
	}
	return w.cluster.Choices(c)
}

// Undetected is a client with a dead connection that the broker has not noticed, 0 for none.
func (w *World) Undetected() uint8 {
	if len(w.halfOpen) == 0 {
		return 0
	}
	return w.halfOpen[0].client
}

// Wake is the number of milliseconds until the first paused client continues. If no client is paused but leases may
// end, it is the time until the next end; 0 if neither.
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

// pending reports whether a client has more to do, now or after its hold has ended.
func (w *World) pending() bool {
	for i := range w.clients {
		if cl := &w.clients[i]; w.unfinished(uint8(i+1)) || !cl.dead && int(cl.next) < len(w.scenario.Clients[i].Ops) {
			return true
		}
	}
	return false
}
