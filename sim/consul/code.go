package consul

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/consul"
)

// Clear implements [sim.Cluster]: it resets clients and servers before a state is read.
func (k *cluster) Clear() {
	clear(k.clients)
	k.clear()
}

// Keep implements [sim.Keeping]. Assigning a machine copies it completely.
func (k *cluster) Keep() {
	to := &k.kept
	to.server.CopyFrom(&k.server)
	to.clients, to.sessions = append(to.clients[:0], k.clients...), append(to.sessions[:0], k.sessions...)
	to.slots, to.expired = append(to.slots[:0], k.slots...), append(to.expired[:0], k.expired...)
}

// Return implements [sim.Keeping]: it restores the copy that Keep saved last.
func (k *cluster) Return() {
	from := &k.kept
	k.server.CopyFrom(&from.server)
	k.clients, k.sessions = append(k.clients[:0], from.clients...), append(k.sessions[:0], from.sessions...)
	k.slots, k.expired = append(k.slots[:0], from.slots...), append(k.expired[:0], from.expired...)
}

// CodeShared implements [sim.Cluster]: it writes or reads the servers' state that belongs to no session.
func (k *cluster) CodeShared(c *codec.Coder) {
	k.server.Code(c)
	n := codec.Length(c, len(k.slots))
	if c.Reading() {
		k.slots = append(k.slots[:0], make([]permit, n)...)
	}
	for i := range k.slots {
		p := &k.slots[i]
		codec.Byte(c, &p.lock)
		codec.Byte(c, &p.slot)
		codec.String(c, &p.id)
	}
}

// CodeClient implements [sim.Cluster]: it writes or reads client n's machine.
func (k *cluster) CodeClient(c *codec.Coder, n uint8) {
	cl, p, l := &k.clients[n-1], k.protocol(n), k.lockOf(n)
	lock, prefix := uint64(0), k.server.Index(k.reads[l].Key)
	if e := k.server.Entry(k.keys[l]); e != nil {
		lock = e.Modified
	}
	cl.machine.Code(c, lock, prefix)
	codec.Number(c, &cl.left)
	waits := cl.sent.reply.Waits
	codec.Bool(c, &waits)
	if c.Reading() && waits {
		cl.sent = exchange{request: p.Next(&cl.machine, ""), reply: consul.Reply{Waits: true}}
	}
}

// CodeSession implements [sim.Cluster]: it writes or reads a session and its resources.
func (k *cluster) CodeSession(c *codec.Coder, on backend.Session) {
	for int(on) > len(k.sessions) {
		k.sessions = append(k.sessions, session{})
	}
	s := &k.sessions[on-1]
	s.alive = true
	codec.String(c, &s.id)
}

// CodeOwned implements [sim.Cluster]: it writes what other clients can see of a session.
func (k *cluster) CodeOwned(c *codec.Coder, on backend.Session) { k.CodeSession(c, on) }

// Normalise implements [sim.Cluster]: it clears what can no longer make a difference in client c's machine.
func (k *cluster) Normalise(c uint8, dead, busy bool, _ backend.Session) {
	cl := &k.clients[c-1]
	switch {
	case dead:
		*cl = client{}
	case !busy:
		cl.machine.Normalise()
		cl.sent = exchange{}
	}
}
