package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// Can reports whether an action is possible now.
func (w *World) Can(a scenario.Action) bool {
	if a.Kind == scenario.Restart || a.Kind == scenario.Advance {
		return a.Client == 0
	}
	if a.Client == 0 || int(a.Client) > len(w.clients) {
		return false
	}
	cl, impl := w.client(a.Client)
	choosing := cl.busy && impl.Choices(&cl.machine) > 0
	switch a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		return w.Ready(a.Client) && !choosing
	case scenario.Choose:
		return w.Ready(a.Client) && choosing && int(a.Arg) < impl.Choices(&cl.machine)
	case scenario.CrashBefore, scenario.Pause:
		return !cl.dead
	case scenario.Drop, scenario.ChannelError:
		return !cl.dead && cl.conn != 0
	case scenario.Detect:
		return slices.ContainsFunc(w.halfOpen, func(g halfOpen) bool { return g.client == a.Client })
	}
	return false
}

// Do carries out one action, which must be possible. Every action takes a virtual millisecond, those
// that let time pass as many as they say.
func (w *World) Do(a scenario.Action) {
	w.record.begin(a)
	w.Seen.action(a)
	w.pass(1)
	c := a.Client
	switch a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		w.step(c, a.Kind, a.Late)
	case scenario.Choose:
		w.choose(c, int(a.Arg))
	case scenario.CrashBefore:
		w.crash(c, a.Late)
	case scenario.Pause:
		w.clients[c-1].wake = w.now + int64(a.Arg)
		w.record.world(w, history.Pause, w.process(c, w.clients[c-1].incarnation))
	case scenario.Drop:
		w.end(w.clients[c-1].conn, 0)
	case scenario.ChannelError:
		w.broker.CloseChannel(w.clients[c-1].conn, uint16(w.clients[c-1].machine.Channel), amqp.InternalError)
	case scenario.Detect:
		w.detect(c)
	case scenario.Advance:
		w.pass(int64(a.Arg))
	case scenario.Restart:
		w.restart()
	}
	w.record.end(w)
}

// pass lets virtual time pass.
func (w *World) pass(ms int64) {
	w.now += ms
	w.Monitor.At(w.now)
	next, due := w.broker.NextTimer()
	w.broker.Advance(ms)
	if due && next <= w.broker.Now() {
		for l := range w.setting.layouts {
			w.changed(uint8(l), 0)
		}
	}
}

// choose takes one way that a random option leaves open.
func (w *World) choose(c uint8, i int) {
	cl, impl := w.client(c)
	impl.Choose(&cl.machine, i)
	if cl.machine.Sleep > 0 {
		cl.wake = w.now + int64(cl.machine.Sleep)
		cl.machine.Sleep = 0
	}
}

// detect has the broker notice that the client's dead connections are dead.
func (w *World) detect(c uint8) {
	for i := 0; i < len(w.halfOpen); {
		g := w.halfOpen[i]
		if g.client != c {
			i++
			continue
		}
		w.halfOpen = slices.Delete(w.halfOpen, i, i+1)
		w.broker.Disconnect(g.conn)
		w.gone(c, g.process, w.clients[c-1].grant == g.conn && w.clients[c-1].conn == 0, true)
	}
	w.Monitor.Freed(c)
}

// restart stops the broker and starts it again: connections end, and with them exclusive queues;
// durable queues stay.
func (w *World) restart() {
	w.broker.Restart()
	w.halfOpen, w.shared = w.halfOpen[:0], 0
	for i := range w.clients {
		w.clients[i].conn = 0
	}
	w.record.world(w, history.Restart, history.Nemesis)
	for l := range w.setting.layouts {
		w.survey(uint8(l))
		w.Monitor.Restarted(uint8(l), &w.truth[l])
	}
	for i := range w.clients {
		w.Monitor.Freed(uint8(i + 1))
	}
}

// audit looks for what is left behind once nobody has anything left to do.
func (w *World) audit() {
	for c := range w.clients {
		if w.clients[c].busy {
			w.Monitor.Unfinished(uint8(c + 1))
		}
	}
	for q := 1; q < len(w.setting.meaning); q++ {
		if detail := w.leftover(amqp.Queue(q)); detail != "" {
			w.Monitor.Leftover(detail)
			return
		}
	}
}

// leftover says what is wrong with a queue that is there, or "".
func (w *World) leftover(q amqp.Queue) string {
	m := &w.setting.meaning[q]
	switch {
	case !w.broker.Exists(q):
		return ""
	case w.broker.Depth(q) > 0:
		return "messages are left in a queue"
	case m.Role == backend.Slot && m.Slot == 0:
		return "a queue is left that is no slot's"
	case m.Role != backend.Slot && w.broker.Owner(q) == 0 && !w.Monitor.Believed(m.Lock, m.Slot):
		return "a queue is left that is nobody's"
	}
	return ""
}
