package sim

import "github.com/lockproof/lockproof/model/scenario"

var _ scenario.World = (*World)(nil)

// SentBy is how many commands a client has sent since it was connected.
func (w *World) SentBy(c uint8) uint16 { return w.clients[c-1].sent }

// Ways is how many ways a random option of the client leaves open now.
func (w *World) Ways(c uint8) int {
	if !w.clients[c-1].busy {
		return 0
	}
	return w.cluster.Choices(c)
}

// Undetected is a client of which the broker has a dead connection, 0 for none.
func (w *World) Undetected() uint8 {
	if len(w.halfOpen) == 0 {
		return 0
	}
	return w.halfOpen[0].client
}

// Wake is in how many milliseconds the first of those who stand still goes on, 0 for never.
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

// pending reports whether a client has more to do, now or when its hold has ended.
func (w *World) pending() bool {
	for i := range w.clients {
		if cl := &w.clients[i]; w.unfinished(uint8(i+1)) || !cl.dead && int(cl.next) < len(w.scenario.Clients[i].Ops) {
			return true
		}
	}
	return false
}
