package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// Can reports whether action a is possible in the current state.
func (w *World) Can(a scenario.Action) bool {
	if a.Kind.Global() {
		return a.Client == 0
	}
	if a.Client == 0 || int(a.Client) > len(w.clients) {
		return false
	}
	cl, ways := &w.clients[a.Client-1], w.Ways(a.Client)
	switch a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		if a.Kind == scenario.Step && a.Arg > 0 {
			return a.Arg < 8 && w.Links(a.Client)&(1<<a.Arg) != 0
		}
		return w.operating(a.Client) && ways == 0
	case scenario.Choose:
		return w.operating(a.Client) && int(a.Arg) < ways
	case scenario.CrashBefore, scenario.Pause:
		return !cl.dead
	case scenario.ClockAhead, scenario.ClockBehind, scenario.ClockFast, scenario.ClockSlow:
		return !cl.dead && w.clocked.any()
	case scenario.Drop, scenario.ChannelError:
		return !cl.dead && cl.conn != 0
	case scenario.Detect:
		return slices.ContainsFunc(w.halfOpen, func(g halfOpen) bool { return g.client == a.Client })
	}
	return false
}

// Do executes one action, which must be possible. An action takes one virtual millisecond, besides the time that an
// Advance or Idle action lets pass.
func (w *World) Do(a scenario.Action) {
	w.record.begin(a)
	if w.Own != nil {
		w.record.sent, w.record.by = backend.Exchange{}, a.Client
	}
	w.Seen.action(a)
	w.pass(1)
	c := a.Client
	switch a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		if a.Kind == scenario.Step && a.Arg > 0 {
			w.act(c, uint8(a.Arg))
		} else {
			w.step(c, a.Kind, a.Late)
		}
	case scenario.Choose:
		w.choose(c, int(a.Arg))
	case scenario.CrashBefore:
		w.crash(c, a.Late)
	case scenario.Pause:
		w.clients[c-1].wake = w.now + int64(a.Arg)
		w.record.world(history.Pause, w.process(c, w.clients[c-1].incarnation))
	case scenario.Drop:
		if on := w.clients[c-1].conn; on != 0 { // the session may have expired in the last millisecond
			w.end(on, 0)
		}
	case scenario.ChannelError:
		w.abort(c)
	case scenario.Detect:
		w.detect(c)
	case scenario.Advance:
		w.pass(int64(a.Arg))
	case scenario.Idle:
		w.pass(1000 * int64(a.Arg))
	case scenario.Restart:
		w.restart()
	case scenario.ClockAhead, scenario.ClockBehind, scenario.ClockFast, scenario.ClockSlow:
		w.clocks.disturb(a)
		w.Monitor.Clock(c, w.clocks.clocks[c-1].ahead)
	}
	w.record.end(w)
	if w.Own != nil {
		w.judgeOwn()
	}
}

// abort makes the server end a client's unit of its session (an AMQP channel, a transaction) with the holds that belong
// to the unit.
func (w *World) abort(c uint8) {
	cl := &w.clients[c-1]
	if cl.conn == 0 {
		return
	}
	w.cluster.Abort(c, cl.conn)
	if w.units {
		w.Monitor.ChannelGone(c, cl.grant == cl.conn)
		w.allChanged(0)
	}
}

// pass lets ms milliseconds of virtual time pass, and handles what expires in this time.
func (w *World) pass(ms int64) {
	for ms > 0 {
		passed, changed := w.cluster.Advance(ms)
		ms -= passed
		w.now += passed
		w.record.At(w.now)
		w.Monitor.At(w.now)
		if w.clocked.any() {
			w.tick(passed)
		}
		if !changed {
			continue
		}
		w.expired = w.cluster.Expired(w.expired[:0])
		for _, on := range w.expired {
			w.expire(on)
		}
		w.allChanged(0)
		for i := range w.clients {
			if w.leases && !w.clients[i].dead {
				w.learned(uint8(i + 1))
			}
		}
	}
}

// tick lets ms milliseconds pass on the clients' clocks.
func (w *World) tick(ms int64) {
	w.clocks.pass(ms, len(w.clients))
	for i := range w.clients {
		if k := &w.clocks.clocks[i]; k.rate != 0 {
			w.Monitor.Clock(uint8(i+1), k.ahead)
		}
	}
}

// expire handles a session that the server has ended because it has expired.
func (w *World) expire(on backend.Session) {
	for i := range w.halfOpen {
		if w.halfOpen[i].conn == on {
			w.detect(w.halfOpen[i].client)
			return
		}
	}
	w.end(on, 0)
}

// choose makes client c take value i of its random option. The client may sleep afterwards.
func (w *World) choose(c uint8, i int) {
	if sleep := w.cluster.Choose(c, i); sleep > 0 {
		w.clients[c-1].wake = w.now + sleep
	}
}

// detect makes the server detect that client c's half-open connections are dead.
func (w *World) detect(c uint8) {
	for i := 0; i < len(w.halfOpen); {
		g := w.halfOpen[i]
		if g.client != c {
			i++
			continue
		}
		w.halfOpen = slices.Delete(w.halfOpen, i, i+1)
		w.cluster.End(g.conn)
		w.gone(c, g.process, w.clients[c-1].grant == g.conn && w.clients[c-1].conn == 0, true)
	}
	w.Monitor.Freed(c)
}

// restart restarts the servers. Sessions end, with everything that depends on them, unless the backend keeps sessions
// (Lasting).
func (w *World) restart() {
	w.cluster.Restart()
	if w.lasting { // the history has no event for it: clients notice nothing but passing time
		w.allChanged(0)
		return
	}
	w.halfOpen, w.shared = w.halfOpen[:0], 0
	for i := range w.clients {
		w.clients[i].conn = 0
	}
	w.record.world(history.Restart, history.Nemesis)
	for l := range w.locks {
		w.survey(uint8(l))
		w.Monitor.Restarted(uint8(l), &w.truth[l])
	}
	for i := range w.clients {
		w.Monitor.Freed(uint8(i + 1))
	}
}

// audit reports to the monitor the unfinished operations, and anything that is wrong in the state left on the servers.
func (w *World) audit() {
	for c := range w.clients {
		if w.clients[c].busy {
			w.Monitor.Unfinished(uint8(c+1), "")
		}
	}
	if detail := w.cluster.Leftover(w.told.believed); detail != "" {
		w.Monitor.Leftover(detail)
	}
}
