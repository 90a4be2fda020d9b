package search

import "sync"

// views numbers what may be seen of clients, so that nothing is looked up by a hash alone.
type views struct {
	mu  sync.Mutex
	ids map[string]uint64
}

func newViews() *views { return &views{ids: make(map[string]uint64)} }

func (v *views) number(view []byte) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, ok := v.ids[string(view)]
	if !ok {
		id = uint64(len(v.ids))
		v.ids[string(view)] = id
	}
	return id
}

// len is how many there are.
func (v *views) len() int { return len(v.ids) }
