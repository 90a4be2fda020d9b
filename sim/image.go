package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/sim/broker"
)

// An image is a state of the world in parts: what is everybody's, and one part for each client: its
// machine, its connections with the queues that are exclusive to them, and what the monitor knows of
// it. Nothing in a part names another client, so that clients may change places, and nothing in it
// depends on how the world came to be there: executions that lead to alike worlds give equal images.

// codeShared writes or reads what is everybody's.
func (w *World) codeShared(c *codec.Coder) {
	w.Monitor.CodeShared(c, len(w.setting.layouts))
	w.broker.CodeCommon(c)
	if !w.sharing() {
		return
	}
	there := w.shared != 0
	if codec.Bool(c, &there); there {
		w.shared = 1
		w.broker.CodeConnection(c, w.shared)
	}
}

// codeClient writes or reads one client.
func (w *World) codeClient(c *codec.Coder, n uint8) {
	cl := &w.clients[n-1]
	connected := cl.conn != 0
	codec.Bools(c, &cl.dead, &cl.busy, &cl.confirms, &connected)
	codec.Byte(c, &cl.next)
	if !cl.dead {
		cl.machine.Code(c)
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

// codeConnection writes or reads the connection that a client uses.
func (w *World) codeConnection(c *codec.Coder, n uint8) {
	cl := &w.clients[n-1]
	granted := cl.grant == cl.conn
	codec.Bool(c, &granted)
	if w.sharing() {
		cl.conn = w.shared
	} else {
		if c.Reading() {
			cl.conn = broker.Conn(n)
			w.own(cl.conn, n)
		}
		w.broker.CodeConnection(c, cl.conn)
	}
	if c.Reading() && granted {
		cl.grant = cl.conn
	}
}

// codeHalfOpen writes or reads a client's connections that are dead while the broker has not noticed.
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
			w.broker.CodeConnection(c, g.conn)
		}
	}
}

// enterHalfOpen reads one of them.
func (w *World) enterHalfOpen(c *codec.Coder, n uint8) {
	var granted bool
	codec.Bool(c, &granted)
	conn := broker.Conn(len(w.clients) + len(w.halfOpen) + 1)
	w.own(conn, n)
	w.broker.CodeConnection(c, conn)
	w.halfOpen = append(w.halfOpen, halfOpen{conn: conn, client: n, process: int32(n)})
	if granted {
		w.clients[n-1].grant = conn
	}
}

// own notes whose a connection is.
func (w *World) own(conn broker.Conn, n uint8) {
	for int(conn) >= len(w.owners) {
		w.owners = append(w.owners, 0)
	}
	w.owners[conn] = n
}

// normal drops from the world what can make no difference any more.
func (w *World) normal() {
	if w.forever {
		w.forgetEmpty()
	}
	for i := range w.clients {
		cl := &w.clients[i]
		switch {
		case cl.dead:
			cl.machine, cl.next, cl.confirms, cl.wake = lock.Machine{}, 0, false, 0
		case !cl.busy:
			cl.machine = lock.Machine{Link: cl.machine.Link, Channel: cl.machine.Channel, Held: cl.machine.Held}
			w.upcoming(uint8(i + 1)) // passes over what makes no sense now
		}
		if cl.conn == 0 {
			cl.confirms = false
		}
		if cl.machine.Held == 0 && !w.inHalfOpen(cl.grant) && !cl.busy {
			cl.grant = 0
		}
	}
}

// forgetEmpty drops half-open connections that have nothing and on which nothing was granted: their end
// makes no difference, and a client that goes on for ever may come to have any number of them.
func (w *World) forgetEmpty() {
	w.halfOpen = slices.DeleteFunc(w.halfOpen, func(g halfOpen) bool {
		if w.broker.Owns(g.conn) || w.believes(g) {
			return false
		}
		w.disown(g)
		w.broker.Disconnect(g.conn)
		return true
	})
}

// believes reports whether its client believes to hold what it was granted on a half-open connection.
func (w *World) believes(g halfOpen) bool {
	cl := &w.clients[g.client-1]
	return cl.grant == g.conn && cl.machine.Held > 0
}

// disown has a client forget that anything was granted on a half-open connection.
func (w *World) disown(g halfOpen) {
	if cl := &w.clients[g.client-1]; cl.grant == g.conn {
		cl.grant = 0
	}
}

func (w *World) inHalfOpen(conn broker.Conn) bool {
	for i := range w.halfOpen {
		if w.halfOpen[i].conn == conn {
			return true
		}
	}
	return false
}

// load makes the world that of an image.
func (w *World) load(shared []byte, clients [][]byte) {
	w.broker.Reset()
	w.now, w.shared, w.Seen = 0, 0, 0
	w.halfOpen = w.halfOpen[:0]
	clear(w.owners)
	w.record.reset()
	clear(w.clients)
	c := codec.Read(shared)
	w.codeShared(&c)
	for i, part := range clients {
		cl := &w.clients[i]
		cl.incarnation, cl.process = 1, int32(i+1)
		c := codec.Read(part)
		w.codeClient(&c, uint8(i+1))
	}
	if w.sharing() && w.shared != 0 {
		w.own(w.shared, 1)
	}
	w.truth = [lock.MaxLocks]monitor.Truth{}
	for l := range w.setting.layouts {
		w.survey(uint8(l))
	}
	w.Monitor.Resume(w.truth[:len(w.setting.layouts)])
}
