package amqp

import (
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// Left implements [sim.Cluster]: the broker stores nothing of a connection that has ended.
func (k *cluster) Left() int { return 0 }

// Clear implements [sim.Cluster]: it resets clients and servers before a state is read.
func (k *cluster) Clear() {
	k.broker.Reset()
	clear(k.clients)
}

// CodeShared implements [sim.Cluster]: it writes or reads the queues that no connection owns exclusively.
func (k *cluster) CodeShared(c *codec.Coder) { k.broker.CodeCommon(c) }

// CodeClient implements [sim.Cluster]: it writes or reads client n's machine.
func (k *cluster) CodeClient(c *codec.Coder, n uint8) {
	cl := &k.clients[n-1]
	cl.machine.Code(c)
	codec.Bool(c, &cl.confirms)
}

// CodeSession implements [sim.Cluster]: it writes or reads a connection's channels and exclusive queues.
func (k *cluster) CodeSession(c *codec.Coder, on backend.Session) {
	k.broker.CodeConnection(c, broker.Conn(on))
}

// CodeOwned implements [sim.Cluster]: it writes a connection's exclusive queues.
func (k *cluster) CodeOwned(c *codec.Coder, on backend.Session) {
	k.broker.CodeOwned(c, broker.Conn(on))
}

// Normalise implements [sim.Cluster]: it clears what can no longer make a difference in client c's machine.
func (k *cluster) Normalise(c uint8, dead, busy bool, on backend.Session) {
	cl := &k.clients[c-1]
	switch m := &cl.machine; {
	case dead:
		*m = amqplock.Machine{}
	case !busy:
		*m = amqplock.Machine{Link: m.Link, Channel: m.Channel, Held: m.Held}
	}
	cl.confirms = cl.confirms && on != 0 && !dead
}
