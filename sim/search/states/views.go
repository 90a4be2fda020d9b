package states

import "sync"

// Views numbers views, a view being what other clients see of a client. It is for searches that do not rely on hashes.
type Views struct {
	mu  sync.Mutex
	ids map[string]uint64
}

// NewViews returns an empty table of views.
func NewViews() *Views { return &Views{ids: make(map[string]uint64)} }

// Number returns the number of a view. A new view gets the next number.
func (v *Views) Number(view []byte) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, ok := v.ids[string(view)]
	if !ok {
		id = uint64(len(v.ids))
		v.ids[string(view)] = id
	}
	return id
}

// Len returns the number of views.
func (v *Views) Len() int { return len(v.ids) }

// Save writes the views in the order of their numbers.
func (v *Views) Save(e *Encoder) {
	byNumber := make([]string, len(v.ids))
	for view, id := range v.ids {
		byNumber[id] = view
	}
	e.U32(uint32(len(byNumber)))
	for _, view := range byNumber {
		e.Blob([]byte(view))
	}
}

// Restore reads the views that Save wrote.
func (v *Views) Restore(d *Decoder) {
	n := d.Fits(uint64(d.U32()), 4)
	for id := 0; id < n && d.Err == nil; id++ {
		if v.Number(d.Blob()) != uint64(id) {
			d.Damaged()
		}
	}
}
