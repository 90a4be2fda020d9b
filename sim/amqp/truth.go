package amqp

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// Truth implements [sim.Cluster]: it stores the servers' state of lock l in t.
func (k *cluster) Truth(l uint8, t *monitor.Truth) {
	*t = monitor.Truth{}
	layout := k.layouts[l]
	if k.target.Kind == lock.Mutex {
		t.Exists = 1 << 1
		k.holder(t, layout.Mutex, 1)
		return
	}
	for s := uint8(1); s <= monitor.Slots; s++ {
		if k.broker.Exists(layout.A[s]) {
			t.Exists |= 1 << s
		}
		k.holder(t, layout.B[s], s)
	}
	t.Admin = k.ownerOf(layout.Admin)
}

func (k *cluster) holder(t *monitor.Truth, q amqp.Queue, s uint8) {
	if k.broker.Exists(q) {
		t.Taken |= 1 << s
		t.Owner[s] = k.ownerOf(q)
	}
}

// ownerOf returns the client whose connection owns queue q exclusively; 0 means none.
func (k *cluster) ownerOf(q amqp.Queue) uint8 {
	if conn := k.broker.Owner(q); conn != 0 {
		return k.owner(backend.Session(conn))
	}
	return 0
}

// Resources implements [sim.Cluster]: it returns the existing queues.
func (k *cluster) Resources() (all []sim.Resource) {
	for i := range k.names.Len() {
		q := amqp.Queue(i + 1)
		if !k.broker.Exists(q) {
			continue
		}
		flags, _ := k.broker.Declared(q)
		all = append(all, sim.Resource{
			Name: k.names.Name(q), Properties: flags.String(), Content: k.broker.Depth(q), Owner: k.ownerOf(q),
		})
	}
	return all
}

// Owns implements [sim.Cluster]: it reports whether a session owns an exclusive resource.
func (k *cluster) Owns(on backend.Session) bool { return k.broker.Owns(broker.Conn(on)) }

// Leftover implements [sim.Cluster]: it describes what is wrong in the final state; "" if nothing is.
func (k *cluster) Leftover(believed func(l, s uint8) bool) string {
	for q := 1; q < len(k.roles); q++ {
		if detail := k.leftover(amqp.Queue(q), believed); detail != "" {
			return detail
		}
	}
	return ""
}

// leftover describes what is wrong with queue q at the end of an execution; "" if nothing is.
func (k *cluster) leftover(q amqp.Queue, believed func(l, s uint8) bool) string {
	if !k.broker.Exists(q) {
		return ""
	}
	m := &k.roles[q]
	return m.Leftover(k.broker.Depth(q), k.broker.Owner(q) != 0 || believed(m.Lock, m.Slot))
}

// Phase names the current activity of client c's machine.
func (k *cluster) Phase(c uint8) string { return k.clients[c-1].machine.Phase.String() }
