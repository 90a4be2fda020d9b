package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Ready reports whether client c can take a step now: it has something to do, and is not paused.
func (w *World) Ready(c uint8) bool {
	return w.Links(c) != 0
}

// awake reports whether client c is alive and not paused.
func (w *World) awake(c uint8) bool {
	cl := &w.clients[c-1]
	return !cl.dead && cl.wake <= w.now
}

// operating reports whether client c can continue its operation, or begin its next one.
func (w *World) operating(c uint8) bool { return w.Links(c)&1 != 0 }

// Links returns the set of a client's links that can take a step now. Link 0 (bit 0) is the current operation, or else
// the next one.
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

// upcoming returns the index of a client's next operation that makes sense. any reports whether it makes sense now: a
// release, for example, needs a hold. Operations that can never make sense are skipped.
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

// unfinished reports whether a live client has an operation under way, or can invoke one now.
func (w *World) unfinished(c uint8) bool {
	cl := &w.clients[c-1]
	if cl.dead || cl.busy {
		return cl.busy
	}
	_, any := w.upcoming(c)
	return any
}

// begin invokes client c's next operation, unless an operation is under way.
func (w *World) begin(c uint8) {
	cl := &w.clients[c-1]
	if cl.busy {
		return
	}
	at, any := w.upcoming(c)
	if !any { // no operation makes sense now, for example because a hold has just ended
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

// complete ends the client's current operation if its machine has a result.
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

// step sends the client's next command to the server and gives the client the reply. If an earlier command has waited
// inside the server, step only gives the client the reply. do says at which point the client or its connection fails,
// if any. late says that the server detects a crash later.
func (w *World) step(c uint8, do scenario.ActionKind, late bool) {
	w.begin(c)
	switch {
	case !w.clients[c-1].busy:
		return
	case w.Ways(c) > 0: // the client has to make a random choice before it sends a command
		if do == scenario.CrashEffect || do == scenario.CrashReply {
			w.crash(c, late)
		}
		return
	}
	answered := w.links && w.cluster.Answered(c)
	if answered {
		w.Monitor.Answered(c)
	} else if x := w.deliver(c); w.sent(c, &x) && do == scenario.Step {
		return // the command waits inside the server
	} else if x.Result == backend.Blocked && do == scenario.CrashReply {
		do = scenario.CrashEffect // there is no reply yet that the client could have received
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
		w.changed(w.lockOf(c), c) // the client may have been granted its lock, or learnt that it holds nothing
	}
	if !w.cluster.Linked(c) {
		w.abandon(c, late)
	}
	w.complete(c)
	if do == scenario.CrashReply {
		w.crash(c, late)
	}
}

// sent records a command of the current action, and reports whether the command waits inside the server.
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

// act takes a step of a client's activity besides its operation (link > 0), such as a renewal. The step may change the
// client's belief.
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
	w.complete(c) // the client's operation may have been waiting for this step
}

// learned tells the monitor which slot client c now believes it holds. It is called after a step that can end a hold
// without a reply to an operation.
func (w *World) learned(c uint8) {
	held := w.cluster.Held(c)
	if !w.clients[c-1].busy || w.leases && held == 0 {
		if less := w.Monitor.Learned(c, held); less && (w.leases || w.unnumbered()) {
			w.record.world(history.Lapse, w.process(c, w.clients[c-1].incarnation)) // another client may hold the slot
		}
	}
}

// deliver sends a client's next command to the server, and reports its effect to the monitor.
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

// arrive reports a command that has reached the server to the monitor.
func (w *World) arrive(c uint8, x *backend.Exchange) {
	w.Monitor.Exchange(c, x)
	if x.Ended {
		w.end(w.clients[c-1].conn, c)
		return
	}
	w.touch(c, x)
	if w.units || w.leases { // the command may let waiting clients continue
		w.allChanged(c)
	}
}

// open gives the client a new session, and closes its old one. If all clients share one session, the client starts over
// on that session.
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
		cl.grant = 0 // the grant ended with the old session, whose number may be reused
	}
	w.record.move(w, c)
	if sharing {
		w.shared = cl.conn
		c = 1 // client 1 owns the session that all share
	}
	w.own(cl.conn, c)
}

// next returns the client's incarnation (number of sessions so far) after it reconnects. The number does not change if
// all clients share a connection that still exists.
func (w *World) next(c uint8) int32 {
	cl := &w.clients[c-1]
	if cl.conn != 0 && cl.conn == w.shared {
		return cl.incarnation
	}
	return cl.incarnation + 1
}

// process returns the number of the process that stands for a client's incarnation in the history.
func (w *World) process(c uint8, incarnation int32) int32 {
	if w.leases {
		return int32(c) // one process for all sessions, since a hold does not depend on a session
	}
	return history.Process(int32(c), incarnation, len(w.clients))
}

// touch reports a command on a lock's resource to the monitor.
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

// end notes that a session has ended on the server. by is the client that ended it; 0 means that no client did.
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

// gone notes that one of a client's connections has ended on the server.
func (w *World) gone(c uint8, process int32, granted, own bool) {
	w.Monitor.Gone(c, granted, own)
	w.record.world(history.Gone, process)
	w.allChanged(0)
}

// abandon ends a connection that its client no longer uses. late says that the server detects this later; until then
// the connection is half-open.
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

// crash kills client c. late says that the server detects the crash later.
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
