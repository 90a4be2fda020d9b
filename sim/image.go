package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// An image is an encoded state of the simulation, divided into parts. The shared part belongs to no client. A client's
// part has its machine, its connections with their exclusive queues, and what the monitor knows about the client. A
// part names no other client, so clients may be permuted. An image does not depend on the past: executions that lead to
// equal states give equal images.

// writer and reader return the simulation's only coder. A new coder would be allocated for each state, since it is
// passed to an interface.
func (w *World) writer(buf []byte) *codec.Coder {
	w.coder = codec.Write(buf)
	return &w.coder
}

func (w *World) reader(buf []byte) *codec.Coder {
	w.coder = codec.Read(buf)
	return &w.coder
}

// codeShared writes or reads the shared part of the state.
func (w *World) codeShared(c *codec.Coder) {
	w.Monitor.CodeShared(c, len(w.locks))
	w.cluster.CodeShared(c)
	if !w.cluster.Shared() {
		return
	}
	there := w.shared != 0
	if codec.Bool(c, &there); there {
		w.shared = 1
		w.cluster.CodeSession(c, w.shared)
	}
}

// codeClient writes or reads the part of client n.
func (w *World) codeClient(c *codec.Coder, n uint8) {
	cl := &w.clients[n-1]
	connected := cl.conn != 0
	codec.Bools(c, &cl.dead, &cl.busy, &connected)
	codec.Byte(c, &cl.next)
	if !cl.dead && w.clocked.any() {
		w.clocks.code(c, n, w.clocked.Compared)
	}
	if w.leases && cl.dead {
		w.cluster.CodeClient(c, n) // a client may hold something without a connection, until its lease ends
	}
	if !cl.dead {
		w.cluster.CodeClient(c, n)
		left := max(0, cl.wake-w.now)
		codec.Number(c, &left)
		cl.wake = w.now + left
	}
	w.Monitor.CodeClient(c, n)
	if connected {
		w.codeConnection(c, n)
	}
	w.codeHalfOpen(c, n)
}

// codeConnection writes or reads the connection that client n currently uses.
func (w *World) codeConnection(c *codec.Coder, n uint8) {
	cl := &w.clients[n-1]
	granted := cl.grant == cl.conn
	codec.Bool(c, &granted)
	if w.cluster.Shared() {
		cl.conn = w.shared
	} else {
		if c.Reading() {
			cl.conn = backend.Session(n)
			w.own(cl.conn, n)
		}
		w.cluster.CodeSession(c, cl.conn)
	}
	if c.Reading() && granted {
		cl.grant = cl.conn
	}
}

// codeHalfOpen writes or reads client n's half-open connections: they are dead, but the server has not detected it.
func (w *World) codeHalfOpen(c *codec.Coder, n uint8) {
	if c.Reading() {
		for i := codec.Length(c, 0); i > 0; i-- {
			w.enterHalfOpen(c, n)
		}
		return
	}
	count := 0
	for i := range w.halfOpen {
		if w.halfOpen[i].client == n {
			count++
		}
	}
	codec.Length(c, count)
	for i := range w.halfOpen {
		if g := &w.halfOpen[i]; g.client == n {
			granted := w.clients[n-1].grant == g.conn
			codec.Bool(c, &granted)
			w.cluster.CodeSession(c, g.conn)
		}
	}
}

// enterHalfOpen adds a half-open connection of client n with the state that it reads.
func (w *World) enterHalfOpen(c *codec.Coder, n uint8) {
	var granted bool
	codec.Bool(c, &granted)
	conn := backend.Session(len(w.clients) + w.cluster.Left() + len(w.halfOpen) + 1)
	w.own(conn, n)
	w.cluster.CodeSession(c, conn)
	w.halfOpen = append(w.halfOpen, halfOpen{conn: conn, client: n, process: int32(n)})
	if granted {
		w.clients[n-1].grant = conn
	}
}

// own records that client n owns a connection.
func (w *World) own(conn backend.Session, n uint8) {
	for int(conn) >= len(w.owners) {
		w.owners = append(w.owners, 0)
	}
	w.owners[conn] = n
}

// normal removes data that can no longer make a difference, so that equivalent states have equal images.
func (w *World) normal() {
	if w.forever {
		w.forgetEmpty()
	}
	for i := range w.clients {
		cl := &w.clients[i]
		c := uint8(i + 1)
		w.cluster.Normalise(c, cl.dead, cl.busy, cl.conn)
		switch {
		case cl.dead:
			cl.next, cl.wake = 0, 0
		case !cl.busy:
			w.upcoming(c) // skips operations that make no sense any more
		}
		if w.cluster.Held(c) == 0 && !w.inHalfOpen(cl.grant) && !cl.busy {
			cl.grant = 0
		}
	}
}

// forgetEmpty drops half-open connections that have neither resources nor a grant. The end of such a connection makes
// no difference. A client with an endless workload could otherwise accumulate them.
func (w *World) forgetEmpty() {
	w.halfOpen = slices.DeleteFunc(w.halfOpen, func(g halfOpen) bool {
		if w.cluster.Owns(g.conn) || w.believes(g) {
			return false
		}
		w.disown(g)
		w.cluster.End(g.conn)
		return true
	})
}

// believes reports whether the client still believes that it holds what it was granted on half-open connection g.
func (w *World) believes(g halfOpen) bool {
	cl := &w.clients[g.client-1]
	return cl.grant == g.conn && w.cluster.Held(g.client) > 0
}

// disown removes the record that the client was granted something on half-open connection g.
func (w *World) disown(g halfOpen) {
	if cl := &w.clients[g.client-1]; cl.grant == g.conn {
		cl.grant = 0
	}
}

func (w *World) inHalfOpen(conn backend.Session) bool {
	for i := range w.halfOpen {
		if w.halfOpen[i].conn == conn {
			return true
		}
	}
	return false
}

// load sets the simulation to the state that an image encodes.
func (w *World) load(shared []byte, clients [][]byte) {
	w.cluster.Clear()
	w.now, w.shared, w.Seen, w.clocks = 0, 0, 0, Clocks{back: w.clocks.back}
	w.Monitor.At(0)
	w.halfOpen = w.halfOpen[:0]
	clear(w.owners)
	w.record.Reset()
	clear(w.clients)
	w.codeShared(w.reader(shared))
	for i, part := range clients {
		cl := &w.clients[i]
		cl.incarnation, cl.process = 1, int32(i+1)
		w.codeClient(w.reader(part), uint8(i+1))
	}
	if w.cluster.Shared() && w.shared != 0 {
		w.own(w.shared, 1)
	}
	w.truth = [lock.MaxLocks]monitor.Truth{}
	for l := range w.locks {
		w.survey(uint8(l))
	}
	w.Monitor.Resume(w.truth[:len(w.locks)])
}
