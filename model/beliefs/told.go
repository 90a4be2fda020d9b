package beliefs

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// tells judges a client's report, without a call, that it has lost the lock. It is a violation if the client certainly
// held the lock.
func (w *Judge) tells(i int, e *history.Event) {
	for _, s := range w.uses[e.Target] {
		held := s.believing && !slices.ContainsFunc(w.believers[s.at], func(b belief) bool { return b.process == e.Target && b.asking })
		w.judge(property.LossTold, !held, i, "%s tells that it has lost %s (%s), but nothing had ended its hold",
			w.h.Who(e.Target), w.h.SlotName(s.at.slot), w.h.Moment(i))
		w.uncertain(e.Target, s)
	}
}
