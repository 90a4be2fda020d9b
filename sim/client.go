package sim

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/broker"
)

// Ready reports whether a client has something to do and is not standing still.
func (w *World) Ready(c uint8) bool {
	cl := &w.clients[c-1]
	if cl.dead || cl.wake > w.now {
		return false
	}
	return cl.busy || w.upcoming(c)
}

// upcoming passes over operations that make no sense now and reports whether one is left.
func (w *World) upcoming(c uint8) bool {
	cl := &w.clients[c-1]
	ops := w.scenario.Clients[c-1].Ops
	for turns := 0; turns <= len(ops)+1; turns++ {
		switch {
		case int(cl.next) < len(ops) && scenario.Sensible(ops[cl.next].Op, cl.machine.Held > 0):
			return true
		case int(cl.next) < len(ops):
			cl.next++
		case w.forever:
			cl.next = 0
		default:
			return false
		}
	}
	return false
}

// begin invokes the client's next operation, if none is under way.
func (w *World) begin(c uint8) {
	cl, impl := w.client(c)
	if cl.busy {
		return
	}
	op := w.scenario.Clients[c-1].Ops[cl.next]
	cl.next++
	cl.busy = true
	cl.called++
	linked := cl.machine.Link != lock.Down
	cl.process = w.process(c, cl.incarnation)
	if !linked {
		cl.process = w.process(c, w.next(c))
	}
	arg := op.Arg
	if op.Op == lock.Verify || op.Op == lock.Release {
		arg = cl.machine.Held
	}
	w.Monitor.Begin(c, w.lockOf(c), op.Op, arg, linked)
	w.record.invoke(w, c, op.Op, arg)
	impl.Start(&cl.machine, op.Op, op.Arg)
	w.complete(c)
}

// complete ends the client's operation once its machine is done.
func (w *World) complete(c uint8) {
	cl, _ := w.client(c)
	if !cl.busy || !cl.machine.Done() {
		return
	}
	cl.busy = false
	r := cl.machine.Result
	if r.Held && cl.machine.Op == lock.Acquire {
		cl.grant = cl.conn
	}
	w.record.complete(w, c, r)
	w.Seen.result(cl.machine.Op, r)
	w.count(c, cl.machine.Op, r)
	w.Monitor.End(c, r, cl.machine.Held, cl.conn != 0)
}

// step has the client's next command reach the broker. How much of that the client lives to see is
// the action's.
func (w *World) step(c uint8, do scenario.ActionKind, late bool) {
	w.begin(c)
	cl, impl := w.client(c)
	if !cl.busy {
		return
	}
	cmd := impl.Next(&cl.machine)
	reply, x := w.send(c, cmd)
	w.record.exchange(cmd, reply)
	w.Seen.reply(reply)
	if w.Coverage != nil {
		w.Coverage.command(c, classOf(&x))
	}
	switch do {
	case scenario.CrashEffect:
		w.crash(c, late)
		return
	case scenario.Lose:
		reply = amqp.Reply{Kind: amqp.Lost}
		w.Monitor.Lost(c)
	}
	impl.Apply(&cl.machine, reply)
	if cl.machine.Link == lock.Down {
		w.abandon(c, late)
	}
	w.complete(c)
	if do == scenario.CrashReply {
		w.crash(c, late)
	}
}

// send carries a command to the broker and what it changed to the monitor.
func (w *World) send(c uint8, cmd amqp.Command) (reply amqp.Reply, x backend.Exchange) {
	cl := &w.clients[c-1]
	cl.sent++
	if cmd.Method == amqp.ConnectionOpen {
		w.open(c)
		reply = amqp.Reply{Kind: amqp.OK}
		x = w.exchange(cmd, reply, false)
		w.Monitor.Exchange(c, &x)
		return reply, x
	}
	if cl.conn == 0 {
		reply = amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced}
		return reply, w.exchange(cmd, reply, false)
	}
	reply = w.broker.Apply(cl.conn, cmd)
	x = w.exchange(cmd, reply, cl.confirms)
	w.Monitor.Exchange(c, &x)
	switch {
	case cmd.Method == amqp.ConnectionClose || reply.Kind == amqp.ConnectionClosed:
		w.end(cl.conn, c)
	case cmd.Method == amqp.ConfirmSelect:
		cl.confirms = true
	case cmd.Method == amqp.ChannelOpen:
		cl.confirms = false
	default:
		w.touch(c, cmd, &x)
	}
	return reply, x
}

// exchange is what a command and its reply were.
func (w *World) exchange(cmd amqp.Command, reply amqp.Reply, confirms bool) backend.Exchange {
	x := cmd.Exchange(reply, cmd.Replies(confirms))
	if m := &w.setting.meaning[cmd.Queue]; m.Known {
		x.Role, x.Lock, x.Slot, x.Known = m.Role, m.Lock, m.Slot, true
	}
	return x
}

// open makes a connection for the client; one that it still has, it closes. Where all share one, it
// closes the channel that it had on it.
func (w *World) open(c uint8) {
	cl := &w.clients[c-1]
	if w.sharing() && w.shared != 0 {
		cl.incarnation = w.next(c)
		cl.conn = w.shared
		w.broker.CloseChannel(cl.conn, uint16(cl.machine.Channel), amqp.ConnectionForced)
		w.record.move(w, c)
		return
	}
	if cl.conn != 0 {
		w.end(cl.conn, c)
	}
	cl.incarnation = w.next(c)
	cl.conn = w.broker.Connect()
	w.record.move(w, c)
	if w.sharing() {
		w.shared = cl.conn
	}
	for int(cl.conn) >= len(w.owners) {
		w.owners = append(w.owners, 0)
	}
	w.owners[cl.conn] = c
	if w.sharing() {
		w.owners[cl.conn] = 1 // who stands for all
	}
}

// next is the incarnation of a client that connects again: the same where all share a connection that
// is still there.
func (w *World) next(c uint8) int32 {
	cl := &w.clients[c-1]
	if w.sharing() && cl.conn != 0 && cl.conn == w.shared {
		return cl.incarnation
	}
	return cl.incarnation + 1
}

// process is the number by which a history knows one connection of a client.
func (w *World) process(c uint8, incarnation int32) int32 {
	return int32(c) + (incarnation-1)*int32(len(w.clients))
}

// touch tells the monitor of a command on a lock's queue.
func (w *World) touch(c uint8, cmd amqp.Command, x *backend.Exchange) {
	if cmd.Queue == 0 {
		return
	}
	m := &w.setting.meaning[cmd.Queue]
	if !m.Known {
		return
	}
	if len(w.setting.layouts) > 1 {
		w.Monitor.Named(c, !m.Collides)
	}
	if !m.Collides {
		w.Monitor.Touch(c, x)
	}
	if x.Access != backend.Create && x.Access != backend.Delete || x.Result != backend.Done {
		return
	}
	for l := range w.setting.layouts {
		if m.Collides || m.Lock == uint8(l) {
			w.changed(uint8(l), c)
		}
	}
}

// end is a connection that the broker sees ending, by a client's doing or by its own (0).
func (w *World) end(conn broker.Conn, by uint8) {
	w.broker.Disconnect(conn)
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

// gone notes that the broker saw one of a client's connections end.
func (w *World) gone(c uint8, process int32, granted, own bool) {
	w.Monitor.Gone(c, granted, own)
	w.record.world(w, history.Gone, process)
	for l := range w.setting.layouts {
		w.changed(uint8(l), 0)
	}
}

// abandon closes what is left of a connection that its client has given up; late, the broker does not
// notice yet.
func (w *World) abandon(c uint8, late bool) {
	cl := &w.clients[c-1]
	conn := cl.conn
	if conn == 0 || w.sharing() && !cl.dead {
		return
	}
	if !late || w.sharing() {
		w.end(conn, c)
		return
	}
	cl.conn = 0
	w.halfOpen = append(w.halfOpen, halfOpen{conn: conn, client: c, process: w.process(c, cl.incarnation)})
	for l := range w.setting.layouts {
		w.changed(uint8(l), 0)
	}
}

// crash kills a client.
func (w *World) crash(c uint8, late bool) {
	cl := &w.clients[c-1]
	process := w.process(c, cl.incarnation)
	if cl.busy {
		process = cl.process
	}
	cl.dead, cl.busy = true, false
	w.record.world(w, history.Crash, process)
	w.Monitor.Crash(c)
	w.abandon(c, late)
}
