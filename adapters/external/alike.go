package external

import "github.com/lockproof/lockproof/model/lock"

// Some semaphores count, and call every slot the same. Where their design is known, messages are numbered here (permits.go).
// Where it is not, whoever is granted a slot is given a number that nobody has, so that the history tells whether there are
// more holders than slots.

// numberOfAlike is the number of the slot that a client was just granted: one that nobody has or is giving back, or else one that
// somebody is giving back, or else another's. Where anything
// has gone wrong before, so that somebody may have lost one and not know, or the number of slots changes, it is not known how
// many are had, and the history is not judged.
func (r *run) numberOfAlike(p *clientState) uint8 {
	l := r.lockOf(p.id)
	slots, had, leaves := r.sc.Locks[l].Slots, make(map[uint8]bool), uint8(1)
	for i := range r.clients {
		o := &r.clients[i]
		if r.lockOf(o.id) != l {
			continue
		}
		had[o.held] = had[o.held] || o.id != p.id
		if o.busy && o.op == lock.Release {
			had[o.arg], leaves = true, o.arg
		}
		r.resigned = r.resigned || r.sc.Clients[i].Administers()
	}
	r.resigned = r.resigned || !r.record.plain()
	for s := uint8(1); s <= slots; s++ {
		if !had[s] {
			return s
		}
	}
	return leaves
}
