package beliefs

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// tells handles the report of a client, unasked, that it has lost its hold. The client must not have held it for
// certain.
func (w *Judge) tells(i int, e *history.Event) {
	for _, s := range w.uses[e.Target] {
		held := s.believing && !slices.ContainsFunc(w.believers[s.at], func(b belief) bool { return b.process == e.Target && b.asking })
		w.judge(property.LossTold, !held, i, "%s tells that it has lost %s (%s), but nothing had ended its hold",
			w.h.Who(e.Target), w.h.SlotName(s.at.slot), w.h.Moment(i))
		w.uncertain(e.Target, s)
	}
}
