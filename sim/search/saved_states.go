package search

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/sim/search/states"
)

// writeBlocks writes the number of states in the blocks, and then each state as stride numbers.
func writeBlocks(e *states.Encoder, blocks [][]uint32, stride int) {
	e.U64(uint64(countStates(blocks, stride)))
	for _, b := range blocks {
		e.Tuple(b)
	}
}

// readBlocks reads the states that writeBlocks wrote.
func (s *search) readBlocks(d *states.Decoder) (blocks [][]uint32) {
	n := d.Count(4 * s.stride)
	for n > 0 && d.Err == nil {
		b := make([]uint32, min(n, blockStates)*s.stride)
		for at := 0; at < len(b); at += s.stride {
			readTuple(d, b[at:at+s.stride], s.plan)
		}
		blocks = append(blocks, b)
		n -= len(b) / s.stride
	}
	return blocks
}

// readTuple reads a state into t. The checkpoint is damaged if a number belongs to no part, or to a client with another
// workload.
func readTuple(d *states.Decoder, t []uint32, p *plan) {
	for i := range t {
		t[i] = d.U32()
	}
	ok := t[0] < p.shared.Len()
	for c := 1; c < len(t) && ok; c++ {
		ok = t[c] < p.clients.Len() && p.clients.Image(t[c])[0] == p.class[c]
	}
	if !ok {
		d.Damaged()
	}
}

func (f *fingerprints) save(e *states.Encoder) {
	e.U64(uint64(f.n.Load()))
	for _, fp := range f.slots {
		if fp != 0 {
			e.U64(fp)
		}
	}
}

func (f *fingerprints) restore(d *states.Decoder) {
	n := d.Count(8)
	freeSlots(f.slots)
	f.slots = newSlots(max(firstSlots, n/2*3))
	for i := 0; i < n && d.Err == nil; i++ {
		if fp := d.U64(); fp == 0 || !f.add(fp) {
			d.Damaged()
		}
	}
	f.n.Store(int64(n))
}

func (x *exact) save(e *states.Encoder) {
	e.U64(uint64(x.n.Load()))
	for i := range x.shards {
		for t := range slices.Chunk(x.shards[i].slots, x.stride) {
			if t[0] != 0 {
				for _, n := range t {
					e.U32(n - 1)
				}
			}
		}
	}
}

func (x *exact) restore(d *states.Decoder) {
	n := d.Count(4 * x.stride)
	t := make([]uint32, x.stride)
	for i := 0; i < n && d.Err == nil; i++ {
		readTuple(d, t, x.plan)
		if !x.add(x.canonical(t)) {
			d.Damaged()
		}
	}
}

func (a *bitArray) save(e *states.Encoder) {
	e.U64(uint64(a.n.Load()))
	for _, w := range a.words {
		e.U64(w)
	}
}

func (a *bitArray) restore(d *states.Decoder) {
	a.n.Store(int64(d.U64()))
	set := 0
	for i := range a.words {
		if d.Err != nil {
			return
		}
		a.words[i] = d.U64()
		set += bits.OnesCount64(a.words[i])
	}
	a.set.Store(int64(set))
}

// save writes the links in ascending order, so that equal searches write equal checkpoints.
func (l links) save(e *states.Encoder) {
	e.U32(uint32(len(l)))
	for _, k := range slices.Sorted(maps.Keys(l)) {
		e.U64(k)
	}
}

// save writes the idle steps in ascending order, so that equal searches write equal checkpoints.
func (steps idleSteps) save(e *states.Encoder) {
	e.U32(uint32(len(steps)))
	slices.SortFunc(steps, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	for _, step := range steps {
		e.U64(step[0])
		e.U64(step[1])
	}
}

// readIdle reads the idle steps that idleSteps.save wrote.
func readIdle(d *states.Decoder) (steps idleSteps) {
	for n := d.Fits(uint64(d.U32()), 16); n > 0; n-- {
		steps = append(steps, [2]uint64{d.U64(), d.U64()})
	}
	return steps
}

// readLinks reads the links that links.save wrote. The checkpoint is damaged if a link's part does not exist.
func readLinks(d *states.Decoder, p *plan) links {
	l := make(links)
	for n := d.Fits(uint64(d.U32()), 8); n > 0; n-- {
		k := d.U64()
		if max(uint32(k>>32), uint32(k)) >= p.clients.Len() {
			d.Damaged()
			break
		}
		l[k] = struct{}{}
	}
	return l
}
