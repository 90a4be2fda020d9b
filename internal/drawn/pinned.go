package drawn

import (
	"github.com/lockproof/lockproof/model/history"
)

// Pinned draws the i-th history of a block, with at most most steps. Every eighth history has more clients and up to
// three times as many steps. Every eighth is about two locks.
func Pinned(block, i, most int) *history.History {
	choose := BySeed(uint64(block + i))
	d := Any(choose)
	d.Steps = min(d.Steps, most)
	switch i % 8 {
	case 7:
		d.Clients, d.Steps = d.Clients+choose.Below(3), 3*most
	case 3:
		return interleaved(choose, History(choose, d), History(choose, d))
	}
	return History(choose, d)
}

// interleaved merges the histories of two locks into one history. The process numbers of the second are shifted, so
// that the clients are different ones.
func interleaved(choose Chooser, one, other *history.History) *history.History {
	h := *one
	h.Locks, h.Slots, h.Events = []string{"jobs", "mail"}, []int{one.Slots[0], other.Slots[0]}, nil
	for len(one.Events)+len(other.Events) > 0 {
		l := uint16(choose.Below(2))
		from := &[]*history.History{one, other}[l].Events
		if len(*from) == 0 {
			continue
		}
		e := (*from)[0]
		*from = (*from)[1:]
		if e.Lock = l; l == 1 && e.Process > 0 {
			e.Process += 40
		}
		h.Events = append(h.Events, e)
	}
	return &h
}
