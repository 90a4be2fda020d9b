package consumption

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// Clear implements [sim.Cluster]: it resets clients and servers before a state is read.
func (k *cluster) Clear() {
	k.broker.Reset()
	clear(k.clients)
	k.grants = k.grants[:0]
}

// CodeShared implements [sim.Cluster]: it writes or reads the queues that no connection owns exclusively.
func (k *cluster) CodeShared(c *codec.Coder) { k.broker.CodeCommon(c) }

// CodeClient implements [sim.Cluster]: it writes or reads client n's machine.
func (k *cluster) CodeClient(c *codec.Coder, n uint8) {
	cl := &k.clients[n-1]
	cl.machine.Code(c)
	codec.Bool(c, &cl.confirms)
	codec.Byte(c, &cl.owes)
	codec.Number(c, &cl.spare)
	if c.Reading() {
		cl.on = backend.Session(n) // sessions are numbered like clients when a state is read
	}
}

// CodeSession implements [sim.Cluster]: it writes or reads a connection, its channels, and the slot numbers of its
// tokens.
func (k *cluster) CodeSession(c *codec.Coder, on backend.Session) {
	k.broker.CodeConnection(c, broker.Conn(on))
	k.codeGrants(c, on)
}

// codeGrants writes or reads a session's tokens (grants), in the order of their delivery tags. In k.grants, the grants
// of a session are consecutive.
func (k *cluster) codeGrants(c *codec.Coder, on backend.Session) {
	n := 0
	for i := range k.grants {
		if k.grants[i].on == on {
			n++
		}
	}
	n = codec.Length(c, n)
	if c.Reading() {
		for range n {
			k.grants = append(k.grants, grant{on: on})
			k.grants[len(k.grants)-1].code(c)
		}
		return
	}
	for i := range k.grants {
		if g := &k.grants[i]; g.on == on {
			g.code(c)
		}
	}
}

func (g *grant) code(c *codec.Coder) {
	codec.Number(c, &g.tag)
	codec.Byte(c, &g.lock)
	codec.Byte(c, &g.slot)
}

// CodeOwned implements [sim.Cluster]: it writes what other clients can see of a session.
func (k *cluster) CodeOwned(c *codec.Coder, on backend.Session) { k.CodeSession(c, on) }

// Normalise implements [sim.Cluster]: it clears what can no longer make a difference in client c's machine.
func (k *cluster) Normalise(c uint8, dead, busy bool, on backend.Session) {
	cl := &k.clients[c-1]
	switch {
	case dead:
		*cl = client{}
	case !busy:
		cl.machine = cl.machine.Rest()
		fallthrough
	default:
		cl.confirms = cl.confirms && on != 0
		cl.granted = 0
		if on == 0 {
			cl.owes, cl.spare = 0, 0
		}
	}
}
