package consumption

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// grant is a token that was delivered to a session. It has a slot number from its delivery until it is given back, see
// [monitor.PermitNumber].
type grant struct {
	on    backend.Session
	tag   uint64
	lock  uint8
	slot  uint8
	found bool
}

// number gives slot numbers to newly delivered tokens, and removes the grants of tokens that were given back.
func (k *cluster) number() {
	if k.target.Kind != lock.Semaphore {
		return
	}
	for i := range k.grants {
		k.grants[i].found = false
	}
	for l := range k.locks {
		for h := range k.broker.Messages(k.locks[l].Layout.Lock) {
			if h.Conn == 0 {
				continue
			}
			i := slices.IndexFunc(k.grants, func(g grant) bool { return g.on == backend.Session(h.Conn) && g.tag == h.Tag })
			if i < 0 {
				i = len(k.grants)
				k.grants = append(k.grants, grant{on: backend.Session(h.Conn), tag: h.Tag, lock: uint8(l)})
			}
			k.grants[i].found = true
		}
	}
	k.grants = slices.DeleteFunc(k.grants, func(g grant) bool { return !g.found })
	for i := range k.grants {
		if g := &k.grants[i]; g.slot == 0 {
			g.slot = k.lowest(g.lock)
		}
	}
	slices.SortFunc(k.grants, func(a, b grant) int { return cmp.Or(cmp.Compare(a.on, b.on), cmp.Compare(a.tag, b.tag)) })
}

// lowest returns the slot number for a newly delivered token of lock l.
func (k *cluster) lowest(l uint8) uint8 {
	held, believed := k.numbered(l), uint16(0)
	for c := range k.clients {
		if cl := &k.clients[c]; k.scenario.Clients[c].Lock == int(l) {
			believed |= 1 << cl.machine.Held
		}
	}
	return monitor.PermitNumber(held, believed, k.tokens(l))
}

// numbered returns the set of slot numbers that tokens of lock l have.
func (k *cluster) numbered(l uint8) (set uint16) {
	for i := range k.grants {
		if k.grants[i].lock == l {
			set |= 1 << k.grants[i].slot
		}
	}
	for c := range k.clients {
		if k.scenario.Clients[c].Lock == int(l) {
			set |= k.owed(uint8(c+1)) &^ 1
		}
	}
	return set
}

// owed returns a set with the slot whose token client c has yet to publish again; empty if there is none.
func (k *cluster) owed(c uint8) uint16 {
	cl := &k.clients[c-1]
	if cl.owes == 0 || !k.mine(cl, c) {
		return 0
	}
	return 1 << cl.owes
}

// tokens returns the number of tokens of lock l: ready, held by clients, or yet to be published again. It leaves out
// tokens that a client has replaced and has yet to acknowledge.
func (k *cluster) tokens(l uint8) (n int) {
	for h := range k.broker.Messages(k.locks[l].Layout.Lock) {
		if h.Conn == 0 || !k.surplus(backend.Session(h.Conn), h.Tag) {
			n++
		}
	}
	for c := range k.clients {
		if k.scenario.Clients[c].Lock == int(l) {
			n += bits.OnesCount16(k.owed(uint8(c + 1)))
		}
	}
	return n
}

// surplus reports whether a token has been replaced by its holder, who has yet to acknowledge it.
func (k *cluster) surplus(on backend.Session, tag uint64) bool {
	c := k.owner(on)
	if c == 0 || c&monitor.HalfOpen != 0 {
		return false
	}
	cl := &k.clients[c-1]
	return cl.on == on && cl.spare != 0 && cl.spare == tag
}

// numberOf returns the slot number of a session's token; 0 if it has none.
func (k *cluster) numberOf(on backend.Session, tag uint64) uint8 {
	for i := range k.grants {
		if g := &k.grants[i]; g.on == on && g.tag == tag {
			return g.slot
		}
	}
	return 0
}

// Truth implements [sim.Cluster]: it stores the servers' state of lock l in t.
func (k *cluster) Truth(l uint8, t *monitor.Truth) {
	*t = monitor.Truth{}
	p := &k.locks[l]
	if conn := k.broker.Owner(p.Layout.Admin); conn != 0 {
		t.Admin = k.owner(backend.Session(conn))
	}
	if p.Kind != lock.Semaphore {
		k.consumer(p, t)
		return
	}
	for i := range k.grants {
		g := &k.grants[i]
		if g.lock != l || k.surplus(g.on, g.tag) {
			continue
		}
		t.Exists |= 1 << g.slot
		owner := k.owner(g.on)
		if owner > 0 && owner&monitor.HalfOpen == 0 && k.removes(owner) {
			t.Pending |= 1 << g.slot // an administrator is removing this slot
			continue
		}
		t.Taken |= 1 << g.slot
		t.Owner[g.slot] = owner
	}
	for c := range k.clients {
		if k.scenario.Clients[c].Lock == int(l) {
			owed := k.owed(uint8(c + 1))
			t.Exists |= owed
			t.Pending |= owed
		}
	}
	for s := uint8(1); s <= monitor.Slots && bits.OnesCount16(t.Exists) < k.tokens(l); s++ {
		t.Exists |= 1 << s
	}
}

// removes reports whether client c is an administrator that takes tokens in order to remove slots.
func (k *cluster) removes(c uint8) bool {
	m := &k.clients[c-1].machine
	return m.Op.Administrative() && !m.Idle()
}

// consumer sets the holder of a mutex in t: the first consumer of its queue.
func (k *cluster) consumer(p *consumption.Protocol, t *monitor.Truth) {
	if p.Kind == lock.Mutex || k.broker.Exists(p.Layout.Lock) {
		t.Exists = 1 << 1
	}
	for c := range k.broker.Consumers(p.Layout.Lock) {
		t.Taken, t.Owner[1] = 1<<1, k.owner(backend.Session(c.Conn))
		return
	}
}

// Resources implements [sim.Cluster]: it returns the existing queues, with their exclusive owners or consumers.
func (k *cluster) Resources() (all []sim.Resource) {
	for i := range k.names.Len() {
		q := amqp.Queue(i + 1)
		if !k.broker.Exists(q) {
			continue
		}
		flags, _ := k.broker.Declared(q)
		r := sim.Resource{Name: k.names.Name(q), Properties: flags.String(), Content: k.broker.Depth(q), Owner: k.owner(backend.Session(k.broker.Owner(q)))}
		for c := range k.broker.Consumers(q) {
			if c.Exclusive {
				r.Owner = k.owner(backend.Session(c.Conn))
			}
		}
		all = append(all, r)
	}
	return all
}

// Owns implements [sim.Cluster]: it reports whether a session owns an exclusive resource.
func (k *cluster) Owns(on backend.Session) bool {
	return k.broker.Owns(broker.Conn(on)) || k.broker.Holds(broker.Conn(on))
}

// Leftover implements [sim.Cluster]: it describes what is wrong in the final state; "" if nothing is.
func (k *cluster) Leftover(believed func(l, s uint8) bool) string {
	for l := range k.locks {
		p := &k.locks[l]
		switch {
		case k.broker.Exists(p.Layout.Admin) && k.broker.Owner(p.Layout.Admin) == 0:
			return "the administration mutex is left behind"
		case p.Kind != lock.Semaphore && k.broker.Depth(p.Layout.Lock) > 0:
			return "messages are left in a queue"
		case p.Kind == lock.Mutex && k.settings.AutoDelete && k.broker.Exists(p.Layout.Lock) && !believed(uint8(l), 1):
			return "a queue is left that is nobody's"
		}
	}
	return ""
}
