package beliefs

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// A client that is told of a lost connection, or crashes, may have lost its holds at any moment since its last answer.
// If the history does not record the ends of connections, a grant beside its hold is therefore only in doubt until its
// next answer.

// rivals are the other holders of what a client is granted.
type rivals struct {
	sure    []int32 // they have answered since the grant, and held it then
	waiting []int32 // they have not answered since, and may have lost it before the grant
}

func (r *rivals) number() int            { return len(r.sure) + len(r.waiting) }
func (r *rivals) all() []int32           { return slices.Concat(r.sure, r.waiting) }
func (r *rivals) has(process int32) bool { return slices.Contains(r.all(), process) }

// drop removes one hold of a process.
func (r *rivals) drop(process int32) {
	if k := slices.Index(r.waiting, process); k >= 0 {
		r.waiting = slices.Delete(r.waiting, k, k+1)
	} else if k = slices.Index(r.sure, process); k >= 0 {
		r.sure = slices.Delete(r.sure, k, k+1)
	}
}

// hears handles an answer to a process, or its loss of all that it holds.
func (r *rivals) hears(process int32, lost bool) {
	n := len(r.waiting)
	r.waiting = slices.DeleteFunc(r.waiting, func(p int32) bool { return p == process })
	for range n - len(r.waiting) {
		if !lost {
			r.sure = append(r.sure, process)
		}
	}
}

// doubt is a grant that is a violation if its rivals have not lost what they held.
type doubt struct {
	rivals
	event, lock int
	limit       int // the number of rivals that makes it a violation
	why         func(others []int32) string
}

// mostDoubts is the largest number of doubts at a time. If there are more, mutual-exclusion is undecided.
const mostDoubts = 1 << 10

// besideOthers judges a grant beside the holds of others, or leaves that to the next answers of the others.
func (w *Judge) besideOthers(d doubt) {
	w.judge(property.MutualExclusion, true, d.event, "")
	v := w.verdict(property.MutualExclusion)
	switch same := func(o doubt) bool {
		return o.lock == d.lock && o.limit == d.limit && slices.Equal(o.sure, d.sure) && slices.Equal(o.waiting, d.waiting)
	}; {
	case w.slots != nil || w.witnessed || len(d.sure) >= d.limit:
		w.convict(&d)
	case v.Decision == linear.Illegal && v.Event < d.event, slices.ContainsFunc(w.doubts, same): // the first is enough
	case len(w.doubts) == mostDoubts:
		w.dropped = true
	default:
		w.doubts = append(w.doubts, d)
		w.awaits(d.waiting)
	}
}

// awaits marks processes whose next answers matter.
func (w *Judge) awaits(processes []int32) {
	for _, p := range processes {
		w.awaited[p] = true
	}
}

// verdict is the verdict on a property so far.
func (w *Judge) verdict(p property.Property) *linear.Verdict {
	return &w.verdicts[slices.Index(judged[:], p)]
}

// convict makes a grant in doubt a violation. The first one is kept.
func (w *Judge) convict(d *doubt) {
	if v := w.verdict(property.MutualExclusion); v.Decision == linear.Legal || d.event < v.Event {
		v.Decision, v.Event, v.Why, v.Lock = linear.Illegal, d.event, d.why(d.all()), d.lock
	}
}

// cutOff ends the beliefs of a process that is told of a lost connection, or crashes, if the history does not record
// the ends of connections. Its release may then have ended the hold of another, if it held something when it called it.
func (w *Judge) cutOff(e *history.Event, s *seen) {
	if w.slots != nil || w.witnessed || !e.Reason.CutOff() {
		return
	}
	for _, s := range w.uses[e.Process] {
		w.uncertain(e.Process, s)
	}
	if e.F.Op() == lock.Release && w.options.Releases == linear.ByAnyone && s.released {
		w.strayed(s.at).unanswered++
	}
}

// settledBy settles doubts by the completion of an operation.
func (w *Judge) settledBy(e *history.Event) {
	if lost := e.Reason.CutOff(); lost || e.Type != history.Info && !e.Reason.Unheard() {
		w.hears(e.Process, lost)
	}
}

// hears settles doubts by an answer to a process or, if lost is true, by the loss of what it has held since its last
// answer.
func (w *Judge) hears(process int32, lost bool) {
	if !w.awaited[process] {
		return
	}
	delete(w.awaited, process)
	for _, all := range w.open {
		for i := range all {
			all[i].hears(process, lost)
		}
	}
	for i := range w.doubts {
		d := &w.doubts[i]
		if d.hears(process, lost); len(d.sure) >= d.limit {
			w.convict(d)
		}
	}
	w.doubts = slices.DeleteFunc(w.doubts, func(d doubt) bool { return len(d.sure) >= d.limit || d.number() < d.limit })
}

// settle makes the grants in doubt violations, since nothing more is heard.
func (w *Judge) settle() {
	for i := range w.doubts {
		w.convict(&w.doubts[i])
	}
	w.doubts = nil
	if v := w.verdict(property.MutualExclusion); w.dropped && v.Decision == linear.Legal {
		v.Decision = linear.Undecided
		v.Why = fmt.Sprintf("more than %d grants at a time were beside holds that may have been lost", mostDoubts)
	}
}
