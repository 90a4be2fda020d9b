package beliefs_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// script makes a history of steps. A step is a process with an invocation, an answer or a fault.
type script struct{ h history.History }

func (s *script) event(time int64, e history.Event) {
	e.Time = time
	s.h.Events = append(s.h.Events, e)
}

func (s *script) call(begin, end int64, process int32, op lock.Op, outcome lock.Outcome, held bool) {
	s.event(begin, history.Invocation(process, 0, op, 1, 0))
	s.event(end, history.Completion(process, 0, op, lock.Result{Outcome: outcome, Held: held, Slot: 1}))
}

// TestHolds: a certain hold ends when its client learns of a loss. After a verify that does not say held, it ended when
// the verify was called.
func TestHolds(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*script)
		to   int64
		end  beliefs.End
	}{
		"nothing":     {func(s *script) { s.event(90, history.Occurrence(history.Heal, 0)) }, 90, beliefs.Standing},
		"released":    {func(s *script) { s.call(30, 40, 1, lock.Release, lock.Done, false) }, 30, beliefs.Released},
		"verified":    {func(s *script) { s.call(30, 40, 1, lock.Verify, lock.Done, true) }, 40, beliefs.Standing},
		"denied":      {func(s *script) { s.call(30, 40, 1, lock.Verify, lock.Done, false) }, 30, beliefs.Denied},
		"unclear":     {func(s *script) { s.call(30, 40, 1, lock.Verify, lock.Unknown, false) }, 30, beliefs.Denied},
		"still asked": {func(s *script) { s.event(35, history.Invocation(1, 0, lock.Verify, 1, 0)) }, 35, beliefs.Denied},
		"gone":        {func(s *script) { s.event(33, history.Occurrence(history.Gone, 1)) }, 33, beliefs.Ended},
		"died":        {func(s *script) { s.event(33, history.Occurrence(history.Crash, 1)) }, 33, beliefs.Died},
		"restart":     {func(s *script) { s.event(34, history.Occurrence(history.Restart, 0)) }, 34, beliefs.Ended},
	} {
		s := script{history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{0}}}
		s.call(10, 20, 1, lock.Acquire, lock.Done, true)
		c.then(&s)
		all := beliefs.Holds(&s.h)
		if len(all) != 1 || all[0].From != 20 || all[0].To != c.to || all[0].End != c.end {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestHoldsUncertain: a granted acquire is no certain hold if the session may have ended before the answer.
func TestHoldsUncertain(t *testing.T) {
	s := script{history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{0}}}
	s.event(1, history.Invocation(1, 0, lock.Acquire, 0, 0))
	s.event(2, history.Occurrence(history.Gone, 1))
	s.event(3, history.Completion(1, 0, lock.Acquire, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}))
	if all := beliefs.Holds(&s.h); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// TestOverlaps: an overlap lasts from the second grant of a slot to the end of the first hold.
func TestOverlaps(t *testing.T) {
	s := script{history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{0}}}
	s.call(10, 20, 1, lock.Acquire, lock.Done, true)
	s.call(25, 30, 2, lock.Acquire, lock.Done, true)
	s.call(40, 45, 1, lock.Verify, lock.Done, true)
	s.event(60, history.Occurrence(history.Gone, 1))
	s.call(70, 80, 3, lock.Acquire, lock.Done, true)
	s.event(90, history.Occurrence(history.Heal, 0))
	all := beliefs.Overlaps(&s.h)
	if len(all) != 2 || all[0].From != 30 || all[0].To != 60 || all[0].First.Process != 1 || all[0].Standing() {
		t.Fatalf("%+v", all)
	}
	if !all[1].Standing() || all[1].First.Process != 2 || all[1].Second.Process != 3 {
		t.Errorf("%+v", all[1])
	}
}
