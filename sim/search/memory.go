package search

import (
	"unsafe"

	"github.com/lockproof/lockproof/sim"
)

// memory estimates the bytes that the seen states, the queue, the parts, and the workers' memo tables take.
func (s *search) memory() int64 {
	n := s.seen.size() + s.shared.Size() + s.clients.Size() + s.queueBytes.Load()
	for _, w := range s.workers {
		n += w.bytes.Load()
	}
	return n
}

// exhausted reports whether memory exceeds the bound now, or will with the next growth of the set of seen states. It
// also returns true if hardly any numbers are left for new parts.
func (s *search) exhausted() bool {
	if s.clients.Full() || s.shared.Full() {
		return true
	}
	return s.opts.Memory > 0 && s.memory()+s.seen.growing() > s.opts.Memory
}

// weigh computes the size in bytes of the worker's tables and stores it in w.bytes.
func (w *worker) weigh() {
	n := w.table.size() + w.other.size() + w.done.size()
	n += cap(w.moves)*int(unsafe.Sizeof(move{})) + cap(w.lists)*int(unsafe.Sizeof(span{}))
	n += 2 * len(w.effects) * int(unsafe.Sizeof(sim.Effect{}))
	n += 2 * len(w.visible) * 8 * len(tuple{})
	w.bytes.Store(int64(n))
}

// keep appends the batch's collected new states to the next level, as one block.
func (b *batch) keep() {
	b.blocks = append(b.blocks, b.block)
	now := b.queueBytes.Add(int64(cap(b.block)) * 4)
	for {
		if most := b.queueMost.Load(); now <= most || b.queueMost.CompareAndSwap(most, now) {
			return
		}
	}
}

// drop frees block i of the current level, which is expanded.
func (s *search) drop(i int64) {
	s.queueBytes.Add(-int64(cap(s.level[i])) * 4)
	s.level[i] = nil
}

// blockBytes returns the bytes that the blocks take.
func blockBytes(blocks [][]uint32) (n int64) {
	for _, b := range blocks {
		n += int64(cap(b)) * 4
	}
	return n
}
