package beliefs

import (
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// If anyone may release, a release that is called while nobody believes may end a belief that begins later, if the
// acquire was called before the release was answered.

// giver is such a release.
type giver struct {
	process int32
	until   int // the event that answered it; or never
}

// never is after all events.
const never = math.MaxInt

// endsOne ends the first belief in a slot, if there is one.
func (w *Judge) endsOne(at place) bool {
	all := w.believers[at]
	if len(all) == 0 {
		return false
	}
	w.uncertain(all[0].process, w.session(all[0].process, at.lock))
	return true
}

// gave handles the answer to a release. If it failed, it has ended nothing.
func (w *Judge) gave(i int, e *history.Event) {
	at := place{e.Lock, e.Slot}
	k := slices.IndexFunc(w.giving[at], func(g giver) bool { return g.process == e.Process && g.until == never })
	if k < 0 || e.F.Op() != lock.Release || e.Type == history.Info {
		return
	}
	w.giving[at][k].until = i
	if e.Type == history.Fail || w.endsOne(at) {
		w.giving[at] = slices.Delete(w.giving[at], k, k+1)
	}
}

// givenUp reports whether a release by anyone may have ended a hold before its client, who asked at an event, was told.
func (w *Judge) givenUp(at place, asked int) bool {
	k := slices.IndexFunc(w.giving[at], func(by giver) bool { return asked < by.until })
	if k >= 0 {
		w.giving[at] = slices.Delete(w.giving[at], k, k+1)
	}
	return k >= 0
}

// givenBy ends the belief of one of the others beside a grant, if a release by anyone may have ended it.
func (w *Judge) givenBy(at place, g *grant) bool {
	for k, by := range w.giving[at] {
		for _, b := range w.believers[at] {
			if i := slices.Index(g.others, b.process); i >= 0 && b.asked < by.until {
				w.giving[at] = slices.Delete(w.giving[at], k, k+1)
				w.uncertain(b.process, w.session(b.process, at.lock))
				g.others = slices.Delete(g.others, i, i+1)
				return true
			}
		}
	}
	return false
}
