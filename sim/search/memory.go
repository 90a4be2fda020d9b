package search

import (
	"unsafe"

	"github.com/lockproof/lockproof/sim"
)

// memory estimates the bytes in use by seen states, queue, parts, and the workers' memo tables.
func (s *search) memory() int64 {
	n := s.seen.size() + s.shared.Size() + s.clients.Size() + s.queueBytes.Load()
	for _, w := range s.workers {
		n += w.bytes.Load()
	}
	return n
}

// exhausted reports whether the memory bound is reached, or will be by the next growth of the set of states. It also
// reports if the numbers of parts have run out.
func (s *search) exhausted() bool {
	if s.clients.Full() || s.shared.Full() {
		return true
	}
	return s.opts.Memory > 0 && s.memory()+s.seen.growing() > s.opts.Memory
}

// weigh updates the memory that the worker's tables take.
func (w *worker) weigh() {
	n := w.table.size() + w.other.size() + w.done.size()
	n += cap(w.moves)*int(unsafe.Sizeof(move{})) + cap(w.lists)*int(unsafe.Sizeof(span{}))
	n += 2 * len(w.effects) * int(unsafe.Sizeof(sim.Effect{}))
	n += 2 * len(w.visible) * 8 * len(tuple{})
	w.bytes.Store(int64(n))
}

// keep makes the batch's new states a block of the next level.
func (b *batch) keep() {
	b.blocks = append(b.blocks, b.block)
	now := b.queueBytes.Add(int64(cap(b.block)) * 4)
	for {
		if most := b.queueMost.Load(); now <= most || b.queueMost.CompareAndSwap(most, now) {
			return
		}
	}
}

// drop frees an expanded block of the level.
func (s *search) drop(i int64) {
	s.queueBytes.Add(-int64(cap(s.level[i])) * 4)
	s.level[i] = nil
}

// blockBytes is the memory that blocks take.
func blockBytes(blocks [][]uint32) (n int64) {
	for _, b := range blocks {
		n += int64(cap(b)) * 4
	}
	return n
}
