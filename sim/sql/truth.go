package sql

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim"
)

// forever is the end of a lease that is being extended: when it ends is not known before its transaction does, and nobody
// takes its row.
const forever = math.MaxInt64

// leases calls f with the slot, token and end of each lease that is not over.
func (k *cluster) leases(l uint8, f func(slot, token uint8, until int64)) {
	k.store.Held(k.table(), l+1, func(num, token uint8, until int64, extended bool) {
		if extended {
			until = forever
		}
		if token == 0 || until < k.store.Now {
			return
		}
		if k.Form == master {
			num = 0
			for _, p := range k.permits[l] {
				if p.token == token {
					num = p.slot
				}
			}
		}
		f(num, token, until)
	})
}

// sync gives leases of the master form their slots, and takes them from those that are over.
func (k *cluster) sync() {
	if k.Form != master {
		return
	}
	for l := range k.scenario.Locks {
		var tokens []uint8
		k.store.Held(sql.Leases, uint8(l+1), func(_, token uint8, until int64, extended bool) {
			if extended || until >= k.store.Now {
				tokens = append(tokens, token)
			}
		})
		k.permits[l] = slices.DeleteFunc(k.permits[l], func(p permit) bool { return !slices.Contains(tokens, p.token) })
		for _, token := range tokens {
			if !slices.ContainsFunc(k.permits[l], func(p permit) bool { return p.token == token }) {
				k.permits[l] = append(k.permits[l], permit{token, k.lowest(uint8(l), client(token))})
			}
		}
	}
}

// lowest is the number for a lease of client c that has none: that which its client believes to have, if no other lease has
// that, else see [monitor.PermitNumber].
func (k *cluster) lowest(l, c uint8) uint8 {
	var taken, believed uint16
	for _, p := range k.permits[l] {
		taken |= 1 << p.slot
	}
	for i := range k.clients {
		d := uint8(i + 1)
		if k.lockOf(d) == l && d != c && k.clients[i].num > 0 {
			believed |= 1 << k.Held(d)
		}
	}
	if own := k.clients[c-1].num; k.clients[c-1].held && own > 0 && taken&(1<<own) == 0 {
		return own
	}
	return monitor.PermitNumber(taken, believed, int(k.scenario.Locks[l].Slots))
}

// Truth implements [sim.Cluster].
func (k *cluster) Truth(l uint8, t *monitor.Truth) {
	most := k.scenario.Locks[l].Slots
	*t = monitor.Truth{Exists: 1<<(most+1) - 2, Limit: most}
	if k.Form == slots { // the master row's lock keeps others from what is under way
		k.store.Claimed(k.table(), l+1, func(num uint8, until int64) {
			if until >= k.store.Now && num <= monitor.Slots {
				t.Pending |= 1 << num
			}
		})
	}
	k.leases(l, func(slot, token uint8, until int64) {
		if slot == 0 || slot > monitor.Slots {
			return
		}
		t.Taken |= 1 << slot
		t.Pending &^= 1 << slot
		if t.Owner[slot] = client(token); until != forever {
			t.Until[slot] = int32(until + 1)
		}
	})
}

// Owns implements [sim.Cluster]: locks of its transaction are all that goes with a session.
func (k *cluster) Owns(on backend.Session) bool {
	return k.store.Alive(uint8(on)) && (k.store.InTransaction(uint8(on)) || k.store.Waits(uint8(on)))
}

// Leftover implements [sim.Cluster]: leases end by themselves.
func (k *cluster) Leftover(func(l, s uint8) bool) string { return "" }

// Resources implements [sim.Cluster].
func (k *cluster) Resources() (all []sim.Resource) {
	for l := range k.scenario.Locks {
		k.store.Rows(k.table(), uint8(l+1), func(num, token uint8, until int64) {
			r := sim.Resource{Name: fmt.Sprintf("%s %v %d", k.scenario.Locks[l].Name, k.table(), num)}
			if token != 0 {
				r.Owner, r.Properties = client(token), fmt.Sprintf("%d ms", until-k.store.Now)
			}
			all = append(all, r)
		})
	}
	return all
}

// Clear implements [sim.Cluster].
func (k *cluster) Clear() {
	clear(k.clients)
	k.store.Clear()
	k.waits, k.permits, k.seen = k.waits[:0], [lock.MaxLocks][]permit{}, k.store.Published
}

// CodeShared implements [sim.Cluster].
func (k *cluster) CodeShared(c *codec.Coder) {
	k.store.CodeShared(c)
	for l := range k.scenario.Locks {
		n := codec.Length(c, len(k.permits[l]))
		if c.Reading() {
			k.permits[l] = make([]permit, n)
		}
		for i := range k.permits[l] {
			codec.Byte(c, &k.permits[l][i].token)
			codec.Byte(c, &k.permits[l][i].slot)
		}
	}
	left := k.store.Left()
	for i := range codec.Length(c, len(left)) {
		on := backend.Session(len(k.clients) + i + 1)
		if !c.Reading() {
			on = backend.Session(left[i])
		}
		k.CodeSession(c, on)
	}
}

// Left implements [sim.Cluster]: sessions whose statement waits while nobody is there to be answered.
func (k *cluster) Left() int { return len(k.store.Left()) }

// CodeClient implements [sim.Cluster]. Tokens tell clients apart, so that none is like another: what they are called is in
// their parts.
func (k *cluster) CodeClient(c *codec.Coder, n uint8) {
	u := &k.clients[n-1]
	name := n
	codec.Byte(c, &name)
	codec.Byte(c, &u.op)
	codec.Byte(c, &u.arg)
	codec.Byte(c, &u.phase)
	codec.Byte(c, &u.token)
	codec.Byte(c, &u.num)
	codec.Byte(c, &u.count)
	codec.Byte(c, &u.tries)
	codec.Number(c, &u.missing)
	for _, r := range []*lock.Result{&u.result, &u.ended} {
		codec.Byte(c, &r.Outcome)
		codec.Byte(c, &r.Reason)
		codec.Byte(c, &r.Slot)
		codec.Bool(c, &r.Held)
	}
	codec.Bools(c, &u.linked, &u.again, &u.held, &u.waiting, &u.added)
	if u.held && k.Deadline != never {
		codec.Number(c, &u.age)
	}
	if u.phase != idle {
		codec.Number(c, &u.fresh)
	}
	if c.Reading() {
		u.on = backend.Session(n) // as a client's session is numbered when a state is read
		u.sent = k.want(&u.machine, n)
	}
}

// CodeSession implements [sim.Cluster].
func (k *cluster) CodeSession(c *codec.Coder, on backend.Session) {
	for int(on) > len(k.waits) {
		k.waits = append(k.waits, 0)
	}
	codec.Number(c, &k.waits[on-1])
	k.store.CodeSession(c, uint8(on))
}

// CodeOwned implements [sim.Cluster].
func (k *cluster) CodeOwned(c *codec.Coder, on backend.Session) { k.CodeSession(c, on) }

// Normalise implements [sim.Cluster].
func (k *cluster) Normalise(c uint8, dead, busy bool, _ backend.Session) {
	u := &k.clients[c-1]
	switch {
	case dead:
		*u = user{}
	case !busy:
		m := machine{linked: u.linked, token: u.token, num: u.num, held: u.held, age: u.age}
		if !m.held {
			m.num, m.age = 0, 0
		}
		*u = user{machine: m, on: u.on}
	}
}
