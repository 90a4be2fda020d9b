package external

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// permits are the messages of a queue that stand for slots and have no numbers: any of them is as good as another. To be
// judged by what the monitor knows of slots, each that somebody has is given a number here.
//
// The simulated cluster of locks by consumption (sim/consumption) says the same of its own clients, and says it otherwise:
// it knows which message a client is about to publish again, or has put in another's place. Of clients of other people
// that is not known, so that it is inferred from how many messages there should be, and from what was called.
type permits struct {
	had     []permit
	spare   []permit // those in whose place their holders have put another
	total   int      // how many there should be: as many as there were when an administrator changed them last; 0 is not known
	missing uint16   // the numbers of those that are gone
}

// permit is one that a channel has.
type permit struct {
	owner
	tag  uint64
	slot uint8
}

// count looks which permits there are, and who has them. mu is held.
func (r *run) count(v wire.State, t *monitor.Truth, l uint8) {
	k, q := &r.permits[l], r.names.layouts[l].a[1]
	if !r.exists(v, q) {
		*k = permits{}
		return
	}
	n := 0
	var had []permit
	for m := range v.Messages(r.realName(q)) {
		n++
		if m.Conn != nil {
			had = append(had, permit{owner: owner{r.connections[m.Conn], m.Channel}, tag: m.Tag})
		}
	}
	had, n = r.withoutSpare(l, had, n)
	if k.total == 0 {
		k.total = n
	}
	k.total = min(max(k.total, n), monitor.Slots)
	r.number(l, had)
	r.miss(l, k.total-min(n, k.total))
	t.Exists, t.Taken = k.missing, k.missing
	for _, h := range k.had {
		bit := uint16(1) << h.slot
		t.Exists |= bit
		if r.removing(l, h.owner) {
			t.Pending |= bit
		} else {
			r.owned(t, l, h.slot, h.owner)
		}
	}
	for s := 1; bits.OnesCount16(t.Exists) < k.total; s++ { // those that nobody has go by the lowest numbers
		t.Exists |= 1 << s
	}
}

// withoutSpare leaves out permits in whose place their holders have put another, and which they are about to acknowledge. Where it is
// not known how many there should be, they are those that were left out before.
func (r *run) withoutSpare(l uint8, had []permit, n int) ([]permit, int) {
	k := &r.permits[l]
	var spare []permit
	had = slices.DeleteFunc(had, func(h permit) bool {
		more := n > k.total
		if k.total == 0 {
			more = slices.ContainsFunc(k.spare, h.is)
		}
		if !more || !r.releasing(l, h.owner) {
			return false
		}
		spare = append(spare, h)
		n--
		return true
	})
	k.spare = spare
	return had, n
}

// is reports whether two are the same delivery.
func (h permit) is(o permit) bool { return h.owner == o.owner && h.tag == o.tag }

// releasing reports whether a client is releasing what it has by a connection.
func (r *run) releasing(l uint8, o owner) bool {
	return r.uses(l, o, func(op lock.Op) bool { return op == lock.Release })
}

// removing reports whether a client has taken what it has by a connection to remove it.
func (r *run) removing(l uint8, o owner) bool { return r.uses(l, o, lock.Op.Administrative) }

// uses reports whether the client of a connection is carrying out an operation of some kind on a lock.
func (r *run) uses(l uint8, o owner, kind func(lock.Op) bool) bool {
	return o.connection != nil && slices.ContainsFunc(r.clients, func(p clientState) bool {
		return p.clientHandle == o.connection.client && p.busy && kind(p.op) && r.lockOf(p.id) == l
	})
}

// number gives those permits numbers that have none.
func (r *run) number(l uint8, had []permit) {
	k := &r.permits[l]
	taken := k.missing
	for i := range had {
		h := &had[i]
		if at := slices.IndexFunc(k.had, h.is); at >= 0 {
			h.slot = k.had[at].slot
			taken |= 1 << h.slot
		}
	}
	had = slices.DeleteFunc(had, func(h permit) bool {
		return h.slot == 0 && taken|1 == 1<<(monitor.Slots+1)-1
	})
	for i := range had {
		if h := &had[i]; h.slot == 0 {
			h.slot = monitor.PermitNumber(taken, r.believed(l), k.total)
			taken |= 1 << h.slot
		}
	}
	k.had = had
}

// believed are the slots of a lock that clients believe to hold.
func (r *run) believed(l uint8) (set uint16) {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && r.lockOf(p.id) == l {
			set |= 1 << p.held &^ 1
		}
	}
	return set
}

// miss sees that as many numbers are missing as permits are gone. Whoever is releasing one gave that up or puts that back.
func (r *run) miss(l uint8, gone int) {
	k := &r.permits[l]
	held := uint16(0)
	for _, h := range k.had {
		held |= 1 << h.slot
	}
	k.missing &^= held
	own := uint16(0)
	if c := r.mover; c > 0 && r.lockOf(c) == l && r.clients[c-1].op == lock.Release {
		own = 1 << r.clients[c-1].arg &^ 1
	}
	for bits.OnesCount16(k.missing) > gone {
		s := k.missing & own
		if s == 0 {
			s = k.missing & -k.missing
		}
		k.missing &^= s
	}
	for bits.OnesCount16(k.missing) < gone {
		s := own &^ (held | k.missing)
		if s == 0 {
			s = 1 << monitor.PermitNumber(held|k.missing, r.believed(l), k.total)
		}
		k.missing |= s
	}
}

// permitOf is the number of the permit that a client was just told that it holds: of one that it has, rather not by a connection
// that is dead and has not been noticed, or that is gone since it took it, or that it has lost again; or else of one that it was
// told of wrongly.
func (r *run) permitOf(p *clientState) uint8 {
	l := r.lockOf(p.id)
	k, believed := &r.permits[l], r.believed(l)
	taken, lost, behind := k.missing, uint16(0), uint8(0)
	for _, h := range k.had {
		switch {
		case h.connection == nil || h.connection.client != p.clientHandle:
			taken |= 1 << h.slot
		case !h.connection.halfOpen:
			return h.slot
		case behind == 0:
			behind = h.slot
		}
	}
	if behind > 0 {
		return behind
	}
	for s := uint8(1); s <= monitor.Slots; s++ {
		if o := r.owners[l][s].connection; o != nil && o.client == p.clientHandle {
			lost |= 1 << s
		}
	}
	for _, set := range []uint16{k.missing, lost &^ taken, (1<<(k.total+1) - 2) &^ taken} {
		if set &^= believed; set != 0 {
			return uint8(bits.TrailingZeros16(set))
		}
	}
	return 1
}
