package search

import (
	"slices"

	"github.com/lockproof/lockproof/sim/search/states"
)

// view identifies the part of client c that other clients can see: by a hash or, for exact storage, by a number.
func (w *worker) view(c int) uint64 {
	view := w.sys.View(c, nil)
	if w.views == nil {
		return states.Hash(view)
	}
	return w.views.Number(view)
}

// visibleStates maps each combination of the other clients' views, in any order, to a number.
type visibleStates map[[len(tuple{}) - 1]uint64]uint64

// exactRest identifies the other clients' views like [worker.rest], but by a number instead of a hash.
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
