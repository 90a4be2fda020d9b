package beliefs

import (
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// If anyone may release, a release that is called while nobody believes may end a belief that begins later, if the
// acquire was called before the release was answered. Such a release is a stray. It ends one hold at most.

// strays are the strays of one slot that have ended no hold yet.
type strays struct {
	called     []int32 // processes whose strays are under way
	unanswered int     // number of strays that never get an answer
	answered   []int   // the events that answered the others
}

// never is after all events.
const never = math.MaxInt

// strayed returns the strays of a slot.
func (w *Judge) strayed(at place) *strays {
	if w.strays[at] == nil {
		w.strays[at] = new(strays)
	}
	return w.strays[at]
}

// callsStray handles the call of a release by a client that does not believe. It ends the belief of a client that does,
// if there is one. Otherwise it is a stray.
func (w *Judge) callsStray(e *history.Event) {
	at := place{e.Lock, e.Slot}
	if w.endsFirst(at) {
		return
	}
	s := w.strayed(at)
	s.called = append(s.called, e.Process)
	w.straying[e.Process] = at
}

// endsFirst ends the beliefs in a lock of the client that believes first in a slot, if there is one.
func (w *Judge) endsFirst(at place) bool {
	all := w.believers[at]
	if len(all) == 0 {
		return false
	}
	w.uncertain(all[0].process, w.session(all[0].process, at.lock))
	return true
}

// strayEnds handles the answer to a release. A stray that failed has ended nothing.
func (w *Judge) strayEnds(i int, e *history.Event) {
	if e.F.Op() != lock.Release {
		return
	}
	at, ok := w.straying[e.Process]
	if !ok {
		return
	}
	delete(w.straying, e.Process)
	s := w.strayed(at)
	k := slices.Index(s.called, e.Process)
	if k < 0 { // it has ended a hold
		return
	}
	s.called = slices.Delete(s.called, k, k+1)
	switch {
	case e.Type == history.Info:
		s.unanswered++
	case e.Type == history.OK && !w.endsFirst(at):
		if len(s.answered) == cap(s.answered) {
			w.forget(at, s)
		}
		s.answered = append(s.answered, i)
	}
}

// forget drops the strays that were answered before the calls of all operations that are under way, or that led to
// beliefs in the slot.
func (w *Judge) forget(at place, s *strays) {
	oldest := never
	for _, call := range w.calls {
		oldest = min(oldest, call)
	}
	for _, b := range w.believers[at] {
		oldest = min(oldest, b.asked)
	}
	s.answered = slices.DeleteFunc(s.answered, func(answer int) bool { return answer < oldest })
}

// called keeps the calls of the operations under way, if anyone may release.
func (w *Judge) called(i int, e *history.Event) {
	switch {
	case w.options.Releases != linear.ByAnyone:
	case e.Type == history.Invoke:
		w.calls[e.Process] = i
	default:
		delete(w.calls, e.Process)
	}
}

// ends uses up a stray that may have ended a hold whose client asked at an event, and reports whether there is one. A
// stray that fits fewer other holds is taken first.
func (s *strays) ends(asked int) bool {
	if s == nil {
		return false
	}
	k := slices.IndexFunc(s.answered, func(answer int) bool { return asked < answer })
	switch {
	case k >= 0:
		s.answered = slices.Delete(s.answered, k, k+1)
	case len(s.called) > 0:
		s.called = slices.Delete(s.called, 0, 1)
	case s.unanswered > 0:
		s.unanswered--
	default:
		return false
	}
	return true
}

// strayEndsRival ends the beliefs of a client that holds what another is granted, if a stray may have ended its hold.
func (w *Judge) strayEndsRival(at place, g *grant) bool {
	for _, b := range w.believers[at] {
		if g.rivals.has(b.process) && w.strays[at].ends(b.asked) {
			g.rivals.drop(b.process)
			w.uncertain(b.process, w.session(b.process, at.lock))
			return true
		}
	}
	return false
}

// strayEndsHolds uses up strays until a grant has fewer rivals than the limit, and reports whether one may have ended
// the granted hold itself.
func (w *Judge) strayEndsHolds(at place, g *grant) (over bool) {
	limit := w.limit(at.lock, at)
	for g.rivals.number() >= limit && w.strayEndsRival(at, g) {
	}
	return g.rivals.number() >= limit && w.strays[at].ends(g.asked)
}
