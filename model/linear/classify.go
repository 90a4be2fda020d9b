package linear

import (
	"cmp"
	"slices"
)

// Most operations have a best moment of effect: a slot is taken as early as possible and returned as late as possible.
// Some operations need the slot to be taken at some moment; for these, the holders follow each other in the order of
// their answers. Three kinds of operations need the slot to be free: a wait, a withdrawn acquire, and an acquire whose
// grant may end before its answer. They disturb this order. An operation on the same slot that overlaps one of them is
// called open: the search tries every moment for it.

// disturbance is a call that needs its slot to be free at some moment.
type disturbance struct {
	slot     uint16
	inv, ret int32
	reach    int32 // latest end of this disturbance and of the earlier ones of the same slot
}

// disturbances are sorted by slot, and then by the beginning of the call.
type disturbances []disturbance

// overlap reports whether a disturbance of the slot overlaps the interval between the events from and to.
func (d disturbances) overlap(slot uint16, from, to int32) bool {
	i, _ := slices.BinarySearchFunc(d, disturbance{slot: slot, inv: to}, compareDisturbances)
	return i > 0 && d[i-1].slot == slot && d[i-1].reach > from
}

func compareDisturbances(a, b disturbance) int {
	return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.inv, b.inv))
}

// classify finds the open operations and marks them.
func (r *normaliser) classify() {
	if !r.nondeterministic {
		return
	}
	r.disturb()
	for i := range r.calls {
		r.classifyCall(&r.calls[i])
	}
}

func (r *normaliser) classifyCall(k *operation) {
	switch k.effect {
	case takes:
		if r.disturbed.overlap(k.slot, k.inv, k.ret) {
			k.traits |= open
		}
		if k.traits.has(mayExpire|loose) && r.disturbed.overlap(k.slot, k.exit, endless) {
			r.openExit(k)
		}
	case mayTake:
		if len(r.disturbed) > 0 && k.exit != endless {
			k.traits |= openExit
		}
	case frees, leaves:
		if k.link != none && r.disturbed.overlap(k.slot, r.call(k.link).ends(), k.ret) {
			r.openExit(r.call(k.link))
		}
	case findsHeld:
		r.classifyHeld(k)
	}
}

// classifyHeld marks a verify as open if its client may lose the slot during the call.
func (r *normaliser) classifyHeld(k *operation) {
	if k.link == none {
		return
	}
	if g := r.call(k.link); g.ends() <= k.ret || k.traits.has(interrupted) {
		k.traits |= open
		r.openExit(g)
	}
}

// openExit marks that every moment must be tried at which a call may lose its slot.
func (r *normaliser) openExit(k *operation) {
	if r.roll != nil && k.inv < r.roll.judged && !k.traits.has(openExit) {
		r.roll.opened = append(r.roll.opened, k)
	}
	k.traits |= openExit
}

// disturbs reports whether a call needs its slot to be free at some moment.
func (k *operation) disturbs() bool {
	return k.effect == claims || k.effect == findsFree || k.effect == takes && k.traits.has(interrupted)
}

// mayDisturb adds a call to the disturbances if it needs its slot to be free at some moment.
func (r *normaliser) mayDisturb(k *operation) {
	if k.disturbs() {
		r.disturbed = append(r.disturbed, disturbance{slot: r.numbered(k.slot), inv: k.inv, ret: k.ret})
	}
}

// disturb collects and sorts the disturbances.
func (r *normaliser) disturb() {
	r.disturbed = r.disturbed[:0]
	for i := range r.calls {
		r.mayDisturb(&r.calls[i])
	}
	if r.roll != nil {
		for _, k := range r.roll.kept {
			r.mayDisturb(k)
		}
	}
	slices.SortFunc(r.disturbed, compareDisturbances)
	for i := range r.disturbed {
		d := &r.disturbed[i]
		d.reach = d.ret
		if i > 0 && r.disturbed[i-1].slot == d.slot {
			d.reach = max(d.reach, r.disturbed[i-1].reach)
		}
	}
}
