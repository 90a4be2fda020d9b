package search

import (
	"maps"
	"math/bits"
	"slices"
)

// writeBlocks writes states, and how many there are.
func writeBlocks(e *encoder, blocks [][]uint32, stride int) {
	e.u64(uint64(states(blocks, stride)))
	for _, b := range blocks {
		e.tuple(b)
	}
}

// readBlocks reads states.
func (s *search) readBlocks(d *decoder) (blocks [][]uint32) {
	n := d.count(4 * s.stride)
	for n > 0 && d.err == nil {
		b := make([]uint32, min(n, blockStates)*s.stride)
		for at := 0; at < len(b); at += s.stride {
			readTuple(d, b[at:at+s.stride], s.plan)
		}
		blocks = append(blocks, b)
		n -= len(b) / s.stride
	}
	return blocks
}

// readTuple reads a state: every part must be there, and a client's be one of its workload.
func readTuple(d *decoder, t []uint32, p *plan) {
	for i := range t {
		t[i] = d.u32()
	}
	ok := t[0] < p.shared.count()
	for c := 1; c < len(t) && ok; c++ {
		ok = t[c] < p.clients.count() && p.clients.image(t[c])[0] == p.class[c]
	}
	if !ok {
		d.damaged()
	}
}

func (f *fingerprints) save(e *encoder) {
	e.u64(uint64(f.n.Load()))
	for _, fp := range f.slots {
		if fp != 0 {
			e.u64(fp)
		}
	}
}

func (f *fingerprints) restore(d *decoder) {
	n := d.count(8)
	freeSlots(f.slots)
	f.slots = newSlots(max(firstSlots, n/2*3))
	for i := 0; i < n && d.err == nil; i++ {
		if fp := d.u64(); fp == 0 || !f.add(fp) {
			d.damaged()
		}
	}
	f.n.Store(int64(n))
}

func (x *exact) save(e *encoder) {
	e.u64(uint64(x.n.Load()))
	for i := range x.shards {
		for t := range slices.Chunk(x.shards[i].slots, x.stride) {
			if t[0] != 0 {
				for _, n := range t {
					e.u32(n - 1)
				}
			}
		}
	}
}

func (x *exact) restore(d *decoder) {
	n := d.count(4 * x.stride)
	t := make([]uint32, x.stride)
	for i := 0; i < n && d.err == nil; i++ {
		readTuple(d, t, x.plan)
		if !x.add(x.canonical(t)) {
			d.damaged()
		}
	}
}

func (a *bitArray) save(e *encoder) {
	e.u64(uint64(a.n.Load()))
	for _, w := range a.words {
		e.u64(w)
	}
}

func (a *bitArray) restore(d *decoder) {
	a.n.Store(int64(d.u64()))
	set := 0
	for i := range a.words {
		if d.err != nil {
			return
		}
		a.words[i] = d.u64()
		set += bits.OnesCount64(a.words[i])
	}
	a.set.Store(int64(set))
}

// save writes the links in order, so that a checkpoint is always the same.
func (l links) save(e *encoder) {
	e.u32(uint32(len(l)))
	for _, k := range slices.Sorted(maps.Keys(l)) {
		e.u64(k)
	}
}

// readLinks reads what save wrote: every part must be there.
func readLinks(d *decoder, p *plan) links {
	l := make(links)
	for n := d.fits(uint64(d.u32()), 8); n > 0; n-- {
		k := d.u64()
		if max(uint32(k>>32), uint32(k)) >= p.clients.count() {
			d.damaged()
			break
		}
		l[k] = struct{}{}
	}
	return l
}
