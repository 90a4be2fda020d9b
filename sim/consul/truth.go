package consul

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/sim"
)

// A session holds a slot if the lock's key names it as a holder, and if the session's own contender key exists. A
// client that reads these keys removes all other holders from the lock's key.

// assignSlots gives a slot number to each new holder of lock l, and removes the slot numbers of former holders.
func (k *cluster) assignSlots(l uint8) {
	holders := k.holders(l)
	k.slots = slices.DeleteFunc(k.slots, func(p permit) bool { return p.lock == l && !slices.Contains(holders, p.id) })
	for _, id := range holders {
		if k.slotOf(l, id) == 0 {
			k.slots = append(k.slots, permit{l, id, k.lowest(l)})
		}
	}
}

// lowest returns the slot number for a holder that has none: see [monitor.PermitNumber]. It takes into account what
// clients with live sessions believe to hold.
func (k *cluster) lowest(l uint8) uint8 {
	var taken, believed uint16
	for _, p := range k.slots {
		if p.lock == l && k.lives(l, p.id) {
			taken |= 1 << p.slot
		}
	}
	for i := range k.clients {
		m := &k.clients[i].machine
		if k.lockOf(uint8(i+1)) == l && slices.ContainsFunc(k.sessions, func(s session) bool { return s.alive && s.id == m.Session }) {
			believed |= 1 << m.Slot
		}
	}
	return monitor.PermitNumber(taken, believed, k.protocols[l].Limit)
}

func (k *cluster) holders(l uint8) []string {
	e := k.server.Entry(k.keys[l])
	if e == nil {
		return nil
	}
	if was := &k.bodies[l]; was.value != e.Value {
		*was = body{e.Value, consul.ReadBody(e.Value).Holders}
	}
	return k.bodies[l].holders
}

// body is the value of a lock's key and the holders that it names. It is stored because it is needed after every
// command and seldom changes.
type body struct {
	value   string
	holders []string
}

// slotOf returns the slot number of a session that is a holder; 0 if it is none.
func (k *cluster) slotOf(l uint8, id string) uint8 {
	for _, p := range k.slots {
		if p.lock == l && p.id == id {
			return p.slot
		}
	}
	return 0
}

// slot returns the slot that client c believes it holds; 0 means none.
func (k *cluster) slot(c uint8) uint8 { return k.machine(c).Slot }

// lives reports whether the contender key of a session exists.
func (k *cluster) lives(l uint8, id string) bool {
	e := k.server.Entry(k.protocols[l].Contender(id))
	return e != nil && e.Session == id
}

// Truth implements [sim.Cluster]: it stores the servers' state of lock l in t.
func (k *cluster) Truth(l uint8, t *monitor.Truth) {
	*t = monitor.Truth{Exists: 1<<(k.protocols[l].Limit+1) - 2}
	for _, p := range k.slots {
		if p.lock == l && k.lives(l, p.id) {
			t.Taken |= 1 << p.slot
			if i := slices.IndexFunc(k.sessions, func(s session) bool { return s.alive && s.id == p.id }); i >= 0 {
				t.Owner[p.slot] = k.owner(backend.Session(i + 1))
			}
		}
	}
}

// Owns implements [sim.Cluster]: it reports whether a session owns an exclusive resource.
func (k *cluster) Owns(on backend.Session) bool {
	id := k.sessions[on-1].id
	return slices.ContainsFunc(k.server.Under(""), func(e consul.Entry) bool { return e.Session == id })
}

// Leftover implements [sim.Cluster]: it reports a contender key whose session has ended.
func (k *cluster) Leftover(func(l, s uint8) bool) string {
	for _, e := range k.server.Under("") {
		if e.Session == "" && !strings.HasSuffix(e.Key, "/.lock") {
			return fmt.Sprintf("%s is left behind: its session has ended", e.Key)
		}
	}
	return ""
}

// Resources implements [sim.Cluster]: it returns the servers' resources.
func (k *cluster) Resources() (all []sim.Resource) {
	for _, e := range k.server.Under("") {
		r := sim.Resource{Name: e.Key, Properties: e.Value}
		if i := slices.IndexFunc(k.sessions, func(s session) bool { return s.alive && s.id == e.Session }); i >= 0 {
			r.Owner = k.owner(backend.Session(i + 1))
		}
		all = append(all, r)
	}
	return all
}
