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
	"github.com/lockproof/lockproof/model/sql/leases"
	"github.com/lockproof/lockproof/sim"
)

// forever stands for the end of a lease that an open transaction is extending. Until the transaction ends, the new end
// is unknown, and no other client can take the lease's row.
const forever = math.MaxInt64

// living calls f with the slot, the token and the end (until) of each lease of lock l that has not ended.
func (k *cluster) living(l uint8, f func(slot, token uint8, until int64)) {
	k.store.Held(k.Table(), l+1, func(num, token uint8, until int64, extended bool) {
		if extended {
			until = forever
		}
		if token == 0 || until < k.store.Now {
			return
		}
		if k.Form == leases.Master {
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

// sync updates the slot numbers of leases in the master form: each new lease gets one, and a lease that has ended loses
// it.
func (k *cluster) sync() {
	if k.Form != leases.Master {
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
				k.permits[l] = append(k.permits[l], permit{token, k.lowest(uint8(l), leases.Owner(token))})
			}
		}
	}
}

// lowest returns the slot number for a lease of client c on lock l that has none. It is the slot that the client
// believes it holds, if no other lease has it; otherwise [monitor.PermitNumber] chooses. A client keeps its slot during
// its release: if the release fails, the client holds the lock again.
func (k *cluster) lowest(l, c uint8) uint8 {
	var taken, believed uint16
	for _, p := range k.permits[l] {
		taken |= 1 << p.slot
	}
	for i := range k.clients {
		d := uint8(i + 1)
		if u := &k.clients[i]; k.lockOf(d) == l && d != c && u.Held && u.Num > 0 {
			believed |= 1 << k.slot(d)
		}
	}
	if own := k.clients[c-1].Num; k.clients[c-1].Held && own > 0 && taken&(1<<own) == 0 {
		return own
	}
	return monitor.PermitNumber(taken, believed, int(k.scenario.Locks[l].Slots))
}

// Truth implements [sim.Cluster]: it stores the servers' state of lock l in t.
func (k *cluster) Truth(l uint8, t *monitor.Truth) {
	most := k.scenario.Locks[l].Slots
	*t = monitor.Truth{Exists: 1<<(most+1) - 2, Limit: most}
	if k.Form == leases.Slots { // in the master form, the master row's lock hides uncommitted leases from others
		k.store.Claimed(k.Table(), l+1, func(num uint8, until int64) {
			if until >= k.store.Now && num <= monitor.Slots {
				t.Pending |= 1 << num
			}
		})
	}
	k.living(l, func(slot, token uint8, until int64) {
		if slot == 0 || slot > monitor.Slots {
			return
		}
		t.Taken |= 1 << slot
		t.Pending &^= 1 << slot
		if t.Owner[slot] = leases.Owner(token); until != forever {
			t.Until[slot] = int32(until + 1)
		}
	})
}

// Owns implements [sim.Cluster]: a session owns something if it has an open transaction or a waiting statement.
func (k *cluster) Owns(on backend.Session) bool {
	return k.store.Alive(uint8(on)) && (k.store.InTransaction(uint8(on)) || k.store.Waits(uint8(on)))
}

// Leftover implements [sim.Cluster]. It finds nothing: every lease expires.
func (k *cluster) Leftover(func(l, s uint8) bool) string { return "" }

// Resources implements [sim.Cluster]: it returns the servers' resources.
func (k *cluster) Resources() (all []sim.Resource) {
	for l := range k.scenario.Locks {
		k.store.Rows(k.Table(), uint8(l+1), func(num, token uint8, until int64) {
			r := sim.Resource{Name: fmt.Sprintf("%s %v %d", k.scenario.Locks[l].Name, k.Table(), num)}
			if token != 0 {
				r.Owner, r.Properties = leases.Owner(token), fmt.Sprintf("%d ms", until-k.store.Now)
			}
			all = append(all, r)
		})
	}
	return all
}

// Clear implements [sim.Cluster]: it resets clients and servers before a state is read.
func (k *cluster) Clear() {
	clear(k.clients)
	k.store.Clear()
	k.waits, k.permits, k.seen = k.waits[:0], [lock.MaxLocks][]permit{}, k.store.Published
}

// Keep implements [sim.Keeping]: it saves a copy of the servers and clients in memory.
func (k *cluster) Keep() {
	k.kept.store.CopyFrom(&k.store)
	k.kept.clients = append(k.kept.clients[:0], k.clients...)
	k.kept.waits = append(k.kept.waits[:0], k.waits...)
	copyPermits(&k.kept.permits, &k.permits)
	k.kept.seen = k.seen
}

// Return implements [sim.Keeping]: it restores the copy that Keep saved last.
func (k *cluster) Return() {
	k.store.CopyFrom(&k.kept.store)
	k.clients = append(k.clients[:0], k.kept.clients...)
	k.waits = append(k.waits[:0], k.kept.waits...)
	copyPermits(&k.permits, &k.kept.permits)
	k.seen = k.kept.seen
}

func copyPermits(to, from *[lock.MaxLocks][]permit) {
	for l := range from {
		to[l] = append(to[l][:0], from[l]...)
	}
}

// CodeShared implements [sim.Cluster]: it writes or reads the servers' state that belongs to no session.
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

// Left implements [sim.Cluster]: it returns the number of sessions with a waiting statement whose client has gone.
func (k *cluster) Left() int { return len(k.store.Left()) }

// CodeClient implements [sim.Cluster]: it writes or reads client n's machine. It includes the number n, since each
// client has tokens of its own.
func (k *cluster) CodeClient(c *codec.Coder, n uint8) {
	u := &k.clients[n-1]
	name := n
	codec.Byte(c, &name)
	k.Code(c, &u.Machine)
	codec.Bool(c, &u.waiting)
	if c.Reading() {
		u.on = backend.Session(n) // when a state is read, session n belongs to client n
		u.sent = k.Want(&u.Machine, k.place(n))
	}
}

// CodeSession implements [sim.Cluster]: it writes or reads a session and its resources.
func (k *cluster) CodeSession(c *codec.Coder, on backend.Session) {
	for int(on) > len(k.waits) {
		k.waits = append(k.waits, 0)
	}
	codec.Number(c, &k.waits[on-1])
	k.store.CodeSession(c, uint8(on))
}

// CodeOwned implements [sim.Cluster]: it writes what other clients can see of a session.
func (k *cluster) CodeOwned(c *codec.Coder, on backend.Session) { k.CodeSession(c, on) }

// Normalise implements [sim.Cluster]: it clears what can no longer make a difference in client c's machine.
func (k *cluster) Normalise(c uint8, dead, busy bool, _ backend.Session) {
	u := &k.clients[c-1]
	switch {
	case dead:
		*u = user{}
	case !busy:
		*u = user{Machine: u.Machine, on: u.on}
		u.Machine.Normalise()
	}
}
