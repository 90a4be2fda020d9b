package search

import (
	"slices"

	"github.com/lockproof/lockproof/sim/search/states"
)

// view identifies the visible part of a client: a hash or, for exact storage, a number.
func (w *worker) view(c int) uint64 {
	view := w.sys.View(c, nil)
	if w.views == nil {
		return states.Hash(view)
	}
	return w.views.Number(view)
}

// visibleStates numbers combinations of the other clients' views, regardless of their order.
type visibleStates map[[len(tuple{}) - 1]uint64]uint64

// exactRest is [worker.rest] without hashes, for exact storage.
func (w *worker) exactRest(t []uint32, c int) uint64 {
	var key [len(tuple{}) - 1]uint64
	n := 0
	for d := 1; d < w.stride; d++ {
		if d != c {
			key[n] = w.clients.At(t[d]).View
			n++
		}
	}
	slices.Sort(key[:n])
	id, ok := w.visible[key]
	if !ok {
		id = uint64(len(w.visible))
		w.visible[key] = id
	}
	return id
}
