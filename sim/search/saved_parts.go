package search

import (
	"github.com/lockproof/lockproof/model/backend"
)

// save writes the parts in the order of their numbers.
func (p *parts) save(e *encoder) {
	n := p.count()
	e.u32(n)
	for id := range n {
		d := p.get(id)
		e.blob([]byte(p.image(id)))
		e.u64(d.view)
		e.bytes([]byte{flags(d.unwitnessed, d.busy, d.holds, d.calm, d.undisturbed), d.slots})
		for _, f := range d.foot {
			e.bytes([]byte{flags(f.Choosing, f.Private), byte(f.Reads), byte(f.Writes)})
		}
		e.u32(d.role)
	}
}

// flags are truth values as bits.
func flags(of ...bool) (b byte) {
	for i, set := range of {
		if set {
			b |= 1 << i
		}
	}
	return b
}

// restore reads the parts that save wrote.
func (p *parts) restore(d *decoder) {
	n := d.fits(uint64(d.u32()), 4+1+8+2+6+4)
	for id := 0; id < n && d.err == nil; id++ {
		image := d.blob()
		view := d.u64()
		var b [8]byte
		d.read(b[:])
		foot := func(b []byte) backend.Footprint {
			return backend.Footprint{Choosing: b[0]&1 != 0, Private: b[0]&2 != 0, Reads: backend.Roles(b[1]), Writes: backend.Roles(b[2])}
		}
		role := d.u32()
		if len(image) == 0 || p.full() {
			d.damaged()
			return
		}
		got := p.intern(image, func() part {
			return part{
				view: view, unwitnessed: b[0]&1 != 0, busy: b[0]&2 != 0, holds: b[0]&4 != 0, calm: b[0]&8 != 0, undisturbed: b[0]&16 != 0,
				slots: b[1], role: role, foot: [...]backend.Footprint{foot(b[2:5]), foot(b[5:8])},
			}
		})
		if got != uint32(id) { // it was there twice
			d.damaged()
		}
	}
}

// save writes the views in the order of their numbers.
func (v *views) save(e *encoder) {
	byNumber := make([]string, len(v.ids))
	for view, id := range v.ids {
		byNumber[id] = view
	}
	e.u32(uint32(len(byNumber)))
	for _, view := range byNumber {
		e.blob([]byte(view))
	}
}

func (v *views) restore(d *decoder) {
	n := d.fits(uint64(d.u32()), 4)
	for id := 0; id < n && d.err == nil; id++ {
		if v.number(d.blob()) != uint64(id) {
			d.damaged()
		}
	}
}
