package engine

import (
	"math/bits"

	"fmt"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// sample is what a number of scenarios came to. Samples of disjoint scenarios add up to the same
// whatever the order.
type sample struct {
	scenarios, steps, commands, operations int
	undecided                              int                     // histories too large to decide linearizability of
	checks                                 monitor.Counts          // how often each property was put to the test
	exercised                              [property.Most]int      // in how many scenarios
	first                                  [property.Most]int      // the first scenario that violates it, from 1; 0 is none
	violating                              [property.Most]int      // in how many scenarios it is violated
	seen                                   [sim.CoveragePoints]int // in how many scenarios
	costs                                  monitor.Costs
	overlap, ownClock                      int64 // longest stale belief beside another's, in virtual milliseconds: of the servers' clock, of the believer's
	overlapCommands                        int32
	overlaps                               int               // scenarios with one
	covered                                map[sim.Point]int // the first scenario that comes to it, from 1; nil where that is not asked for
	sometimes                              property.Set      // those that are to be seen: what violates is in truth what shows it
}

// add takes in the execution that a runner has just finished.
func (s *sample) add(i, steps int, r *sim.Runner, failedAcquire property.FailedAcquire, judged property.Set) {
	found, undecided := r.Judge(failedAcquire)
	found &= judged
	s.scenarios++
	s.steps += steps
	s.commands += r.Sent()
	s.operations += r.Called()
	exercised := r.Monitor.Exercised
	switch {
	case undecided:
		s.undecided++
	case r.Called() > 0:
		exercised = exercised.With(property.Linearizable)
		s.checks[property.Linearizable]++
	}
	s.note(i, exercised, found, r.Seen)
	s.stale(r.Monitor.Overlap, r.Monitor.OwnClock, r.Monitor.Overlaps)
}

// note takes in what the i-th execution put to the test, violated, and came to.
func (s *sample) note(i int, exercised, found property.Set, seen sim.Seen) {
	for p := range property.Property(property.Most) {
		if exercised.Has(p) {
			s.exercised[p]++
		}
		if !found.Has(p) {
			continue
		}
		s.violating[p]++
		if s.first[p] == 0 || i+1 < s.first[p] {
			s.first[p] = i + 1
		}
	}
	for k := range sim.CoveragePoints {
		if seen.Has(k) {
			s.seen[k]++
		}
	}
}

// coverAll takes in what the i-th execution was the first of its runner to come to.
func (s *sample) coverAll(i int, c *sim.Coverage) {
	if c == nil {
		return
	}
	for _, point := range c.Points {
		s.cover(point, i+1)
	}
	c.Points = c.Points[:0]
}

// stale takes in how long a stale belief stood beside another's grant in an execution, in virtual
// milliseconds of the servers' clock and of the believer's own, and in commands.
func (s *sample) stale(overlap, ownClock int64, commands int32) {
	if overlap > 0 {
		s.overlaps++
	}
	s.overlap, s.ownClock = max(s.overlap, overlap), max(s.ownClock, ownClock)
	s.overlapCommands = max(s.overlapCommands, commands)
}

// violated are the properties seen violated.
func (s *sample) violated() (set property.Set) {
	for p, i := range s.first {
		if i > 0 {
			set = set.With(property.Property(p))
		}
	}
	return set &^ s.sometimes
}

// progress is how far a run is.
func (s *sample) progress(of int) Progress {
	return Progress{Scenarios: s.scenarios, Of: of, Violated: bits.OnesCount32(uint32(s.violated()))}
}

// merge adds another sample, of other scenarios.
func (s *sample) merge(o *sample) {
	s.scenarios += o.scenarios
	s.steps += o.steps
	s.commands += o.commands
	s.operations += o.operations
	s.undecided += o.undecided
	s.overlaps += o.overlaps
	s.overlap, s.ownClock = max(s.overlap, o.overlap), max(s.ownClock, o.ownClock)
	s.overlapCommands = max(s.overlapCommands, o.overlapCommands)
	s.costs.Merge(&o.costs)
	for p := range property.Property(property.Most) {
		s.checks[p] += o.checks[p]
		s.exercised[p] += o.exercised[p]
		s.violating[p] += o.violating[p]
		if o.first[p] > 0 && (s.first[p] == 0 || o.first[p] < s.first[p]) {
			s.first[p] = o.first[p]
		}
	}
	for k := range s.seen {
		s.seen[k] += o.seen[k]
	}
	for point, i := range o.covered {
		s.cover(point, i)
	}
}

// cover takes in that a scenario comes to a point.
func (s *sample) cover(point sim.Point, i int) {
	if s.covered == nil {
		s.covered = make(map[sim.Point]int)
	}
	if first := s.covered[point]; first == 0 || i < first {
		s.covered[point] = i
	}
}

// result says what a sample came to for one property, but for its violation: one of list, where it is a user's own. start is
// the slots that the lock begins with, where that is said.
func (s *sample) result(p property.Property, list own.List, failedAcquire property.FailedAcquire, start scenario.SlotSet) report.PropertyResult {
	r := report.PropertyResult{
		Property: p, Own: list.Of(p), Evidence: p.Evidence(), Checked: s.checks[p], Scenarios: s.exercised[p], Violating: s.violating[p],
	}
	if r.Own != nil && r.Own.Sometimes {
		r.Violating = 0
		r.Note = fmt.Sprintf("seen in %d of %s, first in number %d", s.violating[p], style.Plural(s.scenarios, "execution"), s.first[p])
		if s.violating[p] == 0 {
			r.Note, r.Undecided, r.Unclear = "", s.scenarios, "not seen in "+style.Plural(s.scenarios, "execution")
		}
	}
	if p == property.Linearizable {
		r.Note, r.Undecided = failedAcquire.Note(), s.undecided
	}
	if p == property.Linearizable && scenario.Begin("", start).Missing != 0 {
		r.Skip = holes
	}
	return r
}
