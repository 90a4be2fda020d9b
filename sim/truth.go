package sim

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// changed tells the monitor what the broker has of a lock, if it is something else than before.
func (w *World) changed(l, c uint8) {
	before := w.truth[l]
	w.survey(l)
	if w.truth[l] != before {
		w.Monitor.SetTruth(l, c, &w.truth[l])
		if w.Coverage != nil {
			w.Coverage.state(&w.truth[l])
		}
	}
}

// survey looks up what the broker has of a lock.
func (w *World) survey(l uint8) {
	t := &w.truth[l]
	*t = monitor.Truth{}
	layout := w.setting.layouts[l]
	if w.setting.target.Kind == lock.Mutex {
		t.Exists = 1 << 1
		w.surveyHolder(t, layout.Mutex, 1)
		return
	}
	for s := uint8(1); s <= monitor.Slots; s++ {
		if w.broker.Exists(layout.A[s]) {
			t.Exists |= 1 << s
		}
		w.surveyHolder(t, layout.B[s], s)
	}
	t.Admin = w.ownerOf(layout.Admin)
}

func (w *World) surveyHolder(t *monitor.Truth, q amqp.Queue, s uint8) {
	if w.broker.Exists(q) {
		t.Taken |= 1 << s
		t.Owner[s] = w.ownerOf(q)
	}
}

// ownerOf is the client whose connection has a queue exclusively.
func (w *World) ownerOf(q amqp.Queue) uint8 {
	conn := w.broker.Owner(q)
	if conn == 0 || int(conn) >= len(w.owners) {
		return 0
	}
	c := w.owners[conn]
	for i := range w.halfOpen {
		if w.halfOpen[i].conn == conn {
			return c | monitor.HalfOpen
		}
	}
	return c
}
