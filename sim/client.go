package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Ready reports whether a client has something to do and is not paused.
func (w *World) Ready(c uint8) bool {
	return w.Links(c) != 0
}

// awake reports whether a client is alive and not paused.
func (w *World) awake(c uint8) bool {
	cl := &w.clients[c-1]
	return !cl.dead && cl.wake <= w.now
}

// operating reports whether a client can continue its operation, or begin the next.
func (w *World) operating(c uint8) bool { return w.Links(c)&1 != 0 }

// Links is the set of a client's links that can go on now. Bit 0 is the current operation, or else the next one.
func (w *World) Links(c uint8) uint8 {
	if !w.awake(c) {
		return 0
	}
	links := uint8(1)
	if w.links {
		links = w.cluster.Links(c)
	}
	if !w.clients[c-1].busy {
		if _, any := w.upcoming(c); !any {
			links &^= 1
		}
	}
	return links
}

// upcoming is the index of a client's next operation that makes sense. any reports whether that operation makes sense
// now. Operations that never will are skipped.
func (w *World) upcoming(c uint8) (at int, any bool) {
	cl := &w.clients[c-1]
	ops := w.scenario.Clients[c-1].Ops
	if int(cl.next) == len(ops) && !w.forever {
		return len(ops), false
	}
	kept, at := execution.Upcoming(ops, int(cl.next), w.cluster.Held(c) > 0, w.links || w.leases, w.forever)
	cl.next = uint8(kept)
	return at, at < len(ops)
}

// unfinished reports whether a live client has an operation under way, or one to call now.
func (w *World) unfinished(c uint8) bool {
	cl := &w.clients[c-1]
	if cl.dead || cl.busy {
		return cl.busy
	}
	_, any := w.upcoming(c)
	return any
}

// begin invokes the client's next operation, if none is under way.
func (w *World) begin(c uint8) {
	cl := &w.clients[c-1]
	if cl.busy {
		return
	}
	at, any := w.upcoming(c)
	if !any { // its hold may have ended just now
		return
	}
	op := w.scenario.Clients[c-1].Ops[at]
	cl.next = uint8(at + 1)
	cl.busy = true
	cl.called++
	linked := w.cluster.Linked(c)
	cl.process = w.process(c, cl.incarnation)
	if !linked {
		cl.process = w.process(c, w.next(c))
	}
	arg := op.Arg
	if op.Op == lock.Verify || op.Op == lock.Refresh || op.Op == lock.Release {
		arg = w.cluster.Held(c)
	}
	w.Monitor.Begin(c, w.lockOf(c), op.Op, arg, linked)
	w.record.invoke(w, c, op.Op, arg)
	w.cluster.Start(c, op.Op, op.Arg)
	w.complete(c)
}

// complete ends the client's operation if its machine has finished it.
func (w *World) complete(c uint8) {
	cl := &w.clients[c-1]
	if !cl.busy {
		return
	}
	r, done := w.cluster.Result(c)
	if !done {
		return
	}
	cl.busy = false
	op := w.cluster.Op(c)
	if r.Held && op == lock.Acquire {
		cl.grant = cl.conn
	}
	w.record.complete(w, c, op, r)
	w.Seen.result(op, r)
	w.count(c, op, r)
	w.Monitor.End(c, r, w.cluster.Held(c), cl.conn != 0)
}

// step delivers the client's next command to the server, or hands the client the reply to a command that has waited
// there. do says at which point, if any, the client or its connection fails. late: the server notices a crash later.
func (w *World) step(c uint8, do scenario.ActionKind, late bool) {
	w.begin(c)
	switch {
	case !w.clients[c-1].busy:
		return
	case w.Ways(c) > 0: // the operation begins with a random choice, before its first command
		if do == scenario.CrashEffect || do == scenario.CrashReply {
			w.crash(c, late)
		}
		return
	}
	answered := w.links && w.cluster.Answered(c)
	if answered {
		w.Monitor.Answered(c)
	} else if x := w.deliver(c); w.sent(c, &x) && do == scenario.Step {
		return // the command waits
	} else if x.Result == backend.Blocked && do == scenario.CrashReply {
		do = scenario.CrashEffect // there is no reply yet, so the client cannot die with one
	}
	switch do {
	case scenario.CrashEffect:
		w.crash(c, late)
		return
	case scenario.Lose:
		w.Monitor.Lost(c)
		w.cluster.Lose(c)
	default:
		w.cluster.Reply(c)
		if k, ok := w.cluster.(Hindering); ok && k.Hindered(c) {
			w.Monitor.Hinders(c)
		}
		if answered {
			w.record.answered(w)
			if k, ok := w.cluster.(Renewing); ok && k.Renewed(c) {
				w.Monitor.Renewed(c)
			}
		}
	}
	if w.leases {
		w.changed(w.lockOf(c), c) // it may have obtained what it waited for, or have learnt that it has nothing
	}
	if !w.cluster.Linked(c) {
		w.abandon(c, late)
	}
	w.complete(c)
	if do == scenario.CrashReply {
		w.crash(c, late)
	}
}

// sent notes a command of the current action, and reports whether the command waits inside the server.
func (w *World) sent(c uint8, x *backend.Exchange) (waits bool) {
	w.record.exchange(w, x)
	w.Seen.exchange(x)
	if x.Access == backend.Acknowledge {
		w.Monitor.Acknowledged(c)
	}
	if w.Coverage != nil {
		w.Coverage.command(c, classOf(x))
	}
	return x.Result == backend.Blocked
}

// act is a step of a client's activity besides its operation. The step may change the client's belief.
func (w *World) act(c, link uint8) {
	cl := &w.clients[c-1]
	on := cl.conn
	x := w.cluster.Act(c, link, on)
	switch {
	case x.Unasked:
		w.record.exchange(w, &x)
	case x.Method != 0:
		cl.sent++
		if on != 0 || w.lasting && !x.Ended {
			w.arrive(c, &x)
		}
		w.sent(c, &x)
	}
	if !w.cluster.Linked(c) {
		w.abandon(c, false)
	}
	w.learned(c)
	if w.leases {
		w.changed(w.lockOf(c), c) // the client may have given up its hold
	}
	w.complete(c) // the client's operation may have waited for this step
}

// learned tells the monitor what a client believes to hold, after a step that may have ended a hold although no reply to
// an operation said so.
func (w *World) learned(c uint8) {
	held := w.cluster.Held(c)
	if !w.clients[c-1].busy || w.leases && held == 0 {
		if less := w.Monitor.Learned(c, held); less && (w.leases || w.unnumbered()) {
			w.record.world(history.Lapse, w.process(c, w.clients[c-1].incarnation)) // another client may hold it now
		}
	}
}

// deliver delivers a client's next command to the server, and reports the effect to the monitor.
func (w *World) deliver(c uint8) backend.Exchange {
	cl := &w.clients[c-1]
	cl.sent++
	opens := w.cluster.Opens(c)
	if opens {
		w.open(c)
	}
	on := cl.conn
	x := w.cluster.Deliver(c, on)
	if on != 0 || w.lasting && !x.Ended {
		w.arrive(c, &x)
	}
	return x
}

// arrive tells the monitor of a command that reached the server.
func (w *World) arrive(c uint8, x *backend.Exchange) {
	w.Monitor.Exchange(c, x)
	if x.Ended {
		w.end(w.clients[c-1].conn, c)
		return
	}
	w.touch(c, x)
	if w.units || w.leases { // waiting clients may continue
		w.allChanged(c)
	}
}

// open gives the client a new session and closes the old one. If all clients share one session, the client starts
// over on that session.
func (w *World) open(c uint8) {
	cl := &w.clients[c-1]
	sharing := w.cluster.Shared()
	if sharing && w.shared != 0 {
		cl.incarnation = w.next(c)
		cl.conn = w.shared
		w.cluster.Rejoin(c, cl.conn)
		w.record.move(w, c)
		return
	}
	if cl.conn != 0 {
		w.end(cl.conn, c)
	}
	cl.incarnation = w.next(c)
	if cl.conn = w.cluster.Connect(); w.leases && cl.grant == cl.conn && !sharing {
		cl.grant = 0 // the old session is gone, and with it the grant; its number may be reused
	}
	w.record.move(w, c)
	if sharing {
		w.shared = cl.conn
		c = 1 // client 1 stands for all
	}
	w.own(cl.conn, c)
}

// next is the incarnation of a client after it reconnects. It does not change if all clients share a connection that
// still exists.
func (w *World) next(c uint8) int32 {
	cl := &w.clients[c-1]
	if cl.conn != 0 && cl.conn == w.shared {
		return cl.incarnation
	}
	return cl.incarnation + 1
}

// process is the process number that a client's incarnation has in the history.
func (w *World) process(c uint8, incarnation int32) int32 {
	if w.leases {
		return int32(c) // a hold does not depend on a session
	}
	return history.Process(int32(c), incarnation, len(w.clients))
}

// touch tells the monitor of a command on a lock's resource.
func (w *World) touch(c uint8, x *backend.Exchange) {
	if !x.Known {
		return
	}
	if len(w.locks) > 1 {
		w.Monitor.Named(c, !x.Ambiguous)
	}
	if !x.Ambiguous {
		w.Monitor.Touch(c, x)
	}
	if x.Access != backend.Create && x.Access != backend.Delete || x.Result != backend.Done {
		return
	}
	if x.Ambiguous {
		w.allChanged(c)
		return
	}
	w.changed(x.Lock, c)
}

// end notes that the server saw a session end: because of client by, or by itself (0).
func (w *World) end(conn backend.Session, by uint8) {
	w.cluster.End(conn)
	for i := range w.clients {
		cl := &w.clients[i]
		if cl.conn != conn {
			continue
		}
		cl.conn = 0
		w.gone(uint8(i+1), w.process(uint8(i+1), cl.incarnation), true, by == uint8(i+1))
		w.Monitor.Freed(uint8(i + 1))
	}
	if conn == w.shared {
		w.shared = 0
	}
}

// gone notes that the server saw one of a client's connections end.
func (w *World) gone(c uint8, process int32, granted, own bool) {
	w.Monitor.Gone(c, granted, own)
	w.record.world(history.Gone, process)
	w.allChanged(0)
}

// abandon closes the rest of a connection that its client has given up. late: the server notices later.
func (w *World) abandon(c uint8, late bool) {
	cl := &w.clients[c-1]
	conn := cl.conn
	if conn == 0 || w.cluster.Shared() && !cl.dead {
		return
	}
	if !late || w.cluster.Shared() {
		w.end(conn, c)
		return
	}
	cl.conn = 0
	w.halfOpen = append(w.halfOpen, halfOpen{conn: conn, client: c, process: w.process(c, cl.incarnation)})
	w.allChanged(0)
}

// crash kills a client. late: the server notices later.
func (w *World) crash(c uint8, late bool) {
	cl := &w.clients[c-1]
	process := w.process(c, cl.incarnation)
	if cl.busy {
		process = cl.process
	}
	cl.dead, cl.busy = true, false
	w.record.world(history.Crash, process)
	w.Monitor.Crash(c)
	w.abandon(c, late)
	if w.leases {
		w.cluster.Normalise(c, true, false, cl.conn) // a dead client's clock no longer matters
	}
	if w.units {
		w.allChanged(0)
	}
}
