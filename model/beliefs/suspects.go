package beliefs

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// A client that is told of a lost connection, or crashes, may have lost its holds at any moment since its last answer.
// If the history does not record the ends of connections, a grant beside its hold is therefore only suspect until its
// next answer.

// suspect is a grant beside holds of other clients.
type suspect struct {
	event, lock int
	limit       int     // the number of other holders that makes it a violation
	sure        []int32 // other clients that have answered since, and held it then
	waiting     []int32 // other clients that have not
	why         func(others []int32) string
}

// mostSuspects is the largest number of suspect grants at a time; further ones count as violations at once.
const mostSuspects = 1 << 10

// suspects judges a grant beside the holds of others, or leaves that to the next answers of the others.
func (w *Judge) suspects(s suspect) {
	w.judge(property.MutualExclusion, true, s.event, "")
	switch same := func(o suspect) bool {
		return o.lock == s.lock && o.limit == s.limit && slices.Equal(o.sure, s.sure) && slices.Equal(o.waiting, s.waiting)
	}; {
	case w.slots != nil || w.witnessed || len(w.suspect) == mostSuspects:
		w.convict(&s)
	case !slices.ContainsFunc(w.suspect, same): // of two alike, the first is enough
		w.suspect = append(w.suspect, s)
	}
}

// convict makes a suspect grant a violation. The first one is kept.
func (w *Judge) convict(s *suspect) {
	for i := range w.verdicts {
		v := &w.verdicts[i]
		if v.Property == property.MutualExclusion && (v.Decision == linear.Legal || s.event < v.Event) {
			v.Decision, v.Event, v.Why, v.Lock = linear.Illegal, s.event, s.why(slices.Concat(s.sure, s.waiting)), s.lock
		}
	}
}

// cutOff ends the beliefs of a process that is told of a lost connection, or crashes, if the history does not record
// the ends of connections.
func (w *Judge) cutOff(e *history.Event) {
	if w.slots != nil || w.witnessed || e.Reason != lock.Disconnected && e.Reason != lock.Crashed {
		return
	}
	for _, s := range w.uses[e.Process] {
		w.uncertain(e.Process, s)
	}
	if at := (place{e.Lock, e.Slot}); e.F.Op() == lock.Release && w.options.Releases == linear.ByAnyone {
		w.giving[at] = append(w.giving[at], giver{process: e.Process, until: never}) // its own hold may have ended before
	}
}

// heard settles suspect grants by an answer to a process.
func (w *Judge) heard(e *history.Event) {
	lost := e.Reason == lock.Disconnected || e.Reason == lock.Crashed
	if len(w.suspect) == 0 || !lost && e.Type == history.Info {
		return
	}
	for i := range w.suspect {
		s := &w.suspect[i]
		k := slices.Index(s.waiting, e.Process)
		if k < 0 {
			continue
		}
		s.waiting = slices.Delete(s.waiting, k, k+1)
		if !lost {
			s.sure = append(s.sure, e.Process)
		}
		if len(s.sure) >= s.limit {
			w.convict(s)
		}
	}
	w.suspect = slices.DeleteFunc(w.suspect, func(s suspect) bool {
		return len(s.sure) >= s.limit || len(s.sure)+len(s.waiting) < s.limit
	})
}

// settle makes the suspect grants violations, since nothing more is heard.
func (w *Judge) settle() {
	for i := range w.suspect {
		w.convict(&w.suspect[i])
	}
	w.suspect = nil
}
