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

// A session holds a slot if it is among the holders and its contender's key exists: a client that reads the key then
// prunes all other holders.

// assignSlots gives each holder of a lock a slot, and takes slots from sessions that are no longer holders.
func (k *cluster) assignSlots(l uint8) {
	holders := k.holders(l)
	k.slots = slices.DeleteFunc(k.slots, func(p permit) bool { return p.lock == l && !slices.Contains(holders, p.id) })
	for _, id := range holders {
		if k.slotOf(l, id) == 0 {
			k.slots = append(k.slots, permit{l, id, k.lowest(l)})
		}
	}
}

// lowest is the number for a place among the holders without one: see [monitor.PermitNumber]. A belief counts as long
// as its client's session is alive.
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

// body is the last interpretation of a lock's key, kept because it is needed after every command and seldom changes.
type body struct {
	value   string
	holders []string
}

// slotOf is the slot of a session among the holders; 0 is none.
func (k *cluster) slotOf(l uint8, id string) uint8 {
	for _, p := range k.slots {
		if p.lock == l && p.id == id {
			return p.slot
		}
	}
	return 0
}

// slot is the slot that a client believes it holds.
func (k *cluster) slot(c uint8) uint8 { return k.machine(c).Slot }

// lives reports whether a session has its contender's key.
func (k *cluster) lives(l uint8, id string) bool {
	e := k.server.Entry(k.protocols[l].Contender(id))
	return e != nil && e.Session == id
}

// Truth implements [sim.Cluster].
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

// Owns implements [sim.Cluster].
func (k *cluster) Owns(on backend.Session) bool {
	id := k.sessions[on-1].id
	return slices.ContainsFunc(k.server.Under(""), func(e consul.Entry) bool { return e.Session == id })
}

// Leftover implements [sim.Cluster]. A contender's key without a live session is a leftover.
func (k *cluster) Leftover(func(l, s uint8) bool) string {
	for _, e := range k.server.Under("") {
		if e.Session == "" && !strings.HasSuffix(e.Key, "/.lock") {
			return fmt.Sprintf("%s is left behind: its session has ended", e.Key)
		}
	}
	return ""
}

// Resources implements [sim.Cluster].
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
