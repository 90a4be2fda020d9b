package drawn

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

func (w *world) fault() {
	a := w.all[w.c.Below(len(w.all))]
	switch w.c.Below(6) {
	case 0: // the client dies
		if !a.dead {
			a.dead = true
			if a.op != nil {
				w.leave(a)
			}
			w.world(history.Crash, a.process)
			w.dying = append(w.dying, a.process)
		}
	case 1, 2: // the client's connection ends, or an abandoned connection of some client
		process := a.process
		if n := len(w.halfOpen); n > 0 && w.c.Below(2) == 0 {
			process, w.halfOpen = w.halfOpen[n-1], w.halfOpen[:n-1]
		}
		w.end(process)
		w.world(history.Gone, process)
	case 3:
		if w.c.Below(4) == 0 {
			for _, a := range w.all {
				w.end(a.process)
			}
			if !w.Loose {
				clear(w.holder)
				w.limbo, w.halfOpen = nil, nil
			}
			w.world(history.Restart, history.Nemesis)
		}
	default:
		if a.op != nil && !a.dead {
			w.giveUp(a)
		}
	}
}

// pass ends the connection of a crashed client, or adds an event to the history: the broker notices the end of a
// connection that an earlier call of pass has ended.
func (w *world) pass() {
	if n := len(w.ended); n > 0 && w.c.Below(2) == 0 {
		w.world(history.Gone, w.ended[n-1])
		w.ended = w.ended[:n-1]
	} else if n := len(w.dying); n > 0 {
		w.end(w.dying[n-1])
		w.ended = append(w.ended, w.dying[n-1])
		w.dying = w.dying[:n-1]
	}
}

// giveUp ends a client's operation without its answer: the result is unknown. A verify may return "not held" instead;
// then the client continues on another connection.
func (w *world) giveUp(a *actor) {
	w.leave(a)
	e := history.Event{Type: history.Info, Process: a.process, F: a.op.inv.F, Reason: lock.TimedOut}
	switch {
	case a.op.inv.F.Op() == lock.Verify && w.c.Below(2) == 0:
		e.Type, e.Slot = history.OK, a.op.inv.Slot
		a.gone, w.halfOpen = true, append(w.halfOpen, a.process)
	case w.c.Below(3) == 0:
		e.Slot = a.op.answer.Slot
	}
	a.op = nil
	w.emit(e)
}

// leave abandons an operation. At random, its remaining effects happen later, or never.
func (w *world) leave(a *actor) {
	op := a.op
	if op.inv.F.Op() == lock.Release || a.slot > 0 && op.inv.F.Op() == lock.Verify {
		a.slot = 0
	}
	if w.c.Below(2) == 0 {
		return
	}
	w.limbo = append(w.limbo, limbo{process: a.process, come: func() bool {
		if len(op.moments) > 0 && op.moments[0]() {
			op.moments = op.moments[1:]
		}
		return len(op.moments) == 0
	}})
}

// end ends a process's connection: its slots are freed, and its operation fails or ends with an unknown result.
func (w *world) end(process int32) {
	if w.Loose {
		w.loosen(process)
		return
	}
	for s, p := range w.holder {
		if p == process {
			w.holder[s] = 0
		}
	}
	w.limbo = slices.DeleteFunc(w.limbo, func(l limbo) bool { return l.process == process })
	for _, a := range w.all {
		if a.process != process {
			continue
		}
		a.gone = true
		if a.op != nil && len(a.op.moments) > 0 {
			a.op.moments = nil
			a.op.answer = history.Event{Type: history.Info, Reason: lock.Disconnected}
			if a.op.inv.F.Op() == lock.Verify {
				a.op.answer = history.Event{Type: history.OK, Reason: lock.Disconnected, Slot: a.op.inv.Slot}
			}
			a.slot = 0
		}
	}
}

// loosen ends a connection whose end does not necessarily free the client's slots: each slot is freed at once, later,
// or never, at random. The client's operation continues on another connection.
func (w *world) loosen(process int32) {
	for s, p := range w.holder {
		if p != process {
			continue
		}
		switch w.c.Below(3) {
		case 0:
			w.holder[s] = 0
		case 1:
			taken := w.taken[s]
			w.limbo = append(w.limbo, limbo{process: process, come: func() bool {
				if w.holder[s] == process && w.taken[s] == taken {
					w.holder[s] = 0
				}
				return true
			}})
		}
	}
	for _, a := range w.all {
		a.gone = a.gone || a.process == process
	}
}

func (w *world) world(f history.F, process int32) {
	if w.Blind && f != history.Crash {
		return
	}
	w.emit(history.Event{Type: history.Info, Process: history.Nemesis, F: f, Target: process})
}
