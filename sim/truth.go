package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/monitor"
)

// changed looks up the servers' state of lock l, and reports it to the monitor if it has changed.
func (w *World) changed(l, c uint8) {
	before := w.truth[l]
	w.survey(l)
	if w.leases {
		w.lapsed(&before)
	}
	if w.truth[l] != before {
		w.Monitor.SetTruth(l, c, &w.truth[l])
		if w.Coverage != nil {
			w.Coverage.state(&w.truth[l])
		}
	}
}

// lapsed records the clients whose leases have ended since the servers' state was last looked up (before).
func (w *World) lapsed(before *monitor.Truth) {
	if at := before.Nearest(); at == 0 || at > w.now {
		return
	}
	for s, until := range before.Until {
		if until != 0 && int64(until) <= w.now {
			w.record.world(history.Lapse, int32(before.Owner[s]&^monitor.HalfOpen))
		}
	}
}

// allChanged calls changed for every lock.
func (w *World) allChanged(c uint8) {
	for l := range w.locks {
		w.changed(uint8(l), c)
	}
}

// survey looks up the servers' state of lock l and stores it in w.truth.
func (w *World) survey(l uint8) {
	w.cluster.Truth(l, &w.truth[l])
	if w.leases {
		w.truth[l].Lapse(w.now)
	}
}

// ownerOf returns the client that owns a session, with [monitor.HalfOpen] if the session is half-open; 0 means none.
func (w *World) ownerOf(on backend.Session) uint8 {
	if int(on) >= len(w.owners) {
		return 0
	}
	c := w.owners[on]
	if w.inHalfOpen(on) {
		return c | monitor.HalfOpen
	}
	return c
}
