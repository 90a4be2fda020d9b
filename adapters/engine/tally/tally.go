package tally

import (
	"fmt"
	"math/bits"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Tally is the result of a number of scenarios. Tallies of disjoint scenarios add up to the same in any order.
type Tally struct {
	Scenarios, Steps, Commands, Operations int
	Undecided                              int                     // histories whose linearizability was not decided
	unclear                                unclear                 // the first undecided history
	Checks                                 monitor.Counts          // number of tests of each property
	exercised                              [property.Most]int      // number of scenarios that test the property
	First                                  [property.Most]int      // the first violating scenario, from 1; 0 is none
	violating                              [property.Most]int      // number of scenarios that violate the property
	Seen                                   [sim.CoveragePoints]int // number of scenarios
	Costs                                  monitor.Costs
	Overlap, OwnClock                      int64 // longest stale belief, in virtual milliseconds: by the servers' clock, and by the believer's
	OverlapCommands                        int32
	Overlaps                               int               // number of scenarios with a stale belief
	Covered                                map[sim.Point]int // the first scenario that reaches the point, from 1; nil unless requested
	Sometimes                              property.Set      // properties that should occur: a violation is an occurrence
}

// unclear is an undecided history.
type unclear struct {
	Scenario int    `json:"scenario"` // from 1; 0 is none
	Why      string `json:"why"`
}

// Unclear records that the history of the i-th execution was not decided, and why.
func (s *Tally) Unclear(i int, why string) {
	s.Undecided++
	s.unclear.take(unclear{i + 1, why})
}

// take keeps the earlier one.
func (u *unclear) take(o unclear) {
	if o.Scenario > 0 && (u.Scenario == 0 || o.Scenario < u.Scenario) {
		*u = o
	}
}

// Add adds the execution that a runner has just finished.
func (s *Tally) Add(i, steps int, r *sim.Runner, failedAcquire property.FailedAcquire, judged property.Set) {
	found, undecided := r.Judge(failedAcquire)
	found &= judged
	s.Scenarios++
	s.Steps += steps
	s.Commands += r.Sent()
	s.Operations += r.Called()
	exercised := r.Monitor.Exercised
	switch {
	case undecided != "":
		s.Unclear(i, undecided)
	case r.Called() > 0:
		exercised = exercised.With(property.Linearizable)
		s.Checks[property.Linearizable]++
	}
	s.Note(i, exercised, found, r.Seen)
	s.Stale(r.Monitor.Overlap, r.Monitor.OwnClock, r.Monitor.Overlaps)
}

// Note adds what the i-th execution tested, violated, and reached.
func (s *Tally) Note(i int, exercised, found property.Set, seen sim.Seen) {
	for p := range property.Property(property.Most) {
		if exercised.Has(p) {
			s.exercised[p]++
		}
		if !found.Has(p) {
			continue
		}
		s.violating[p]++
		if s.First[p] == 0 || i+1 < s.First[p] {
			s.First[p] = i + 1
		}
	}
	for k := range sim.CoveragePoints {
		if seen.Has(k) {
			s.Seen[k]++
		}
	}
}

// CoverAll adds the points that the i-th execution was the first of its runner to reach.
func (s *Tally) CoverAll(i int, c *sim.Coverage) {
	if c == nil {
		return
	}
	for _, point := range c.Points {
		s.cover(point, i+1)
	}
	c.Points = c.Points[:0]
}

// Stale adds how long a stale belief lasted beside another client's grant: in virtual milliseconds of the servers' clock and
// of the believer's clock, and in commands.
func (s *Tally) Stale(overlap, ownClock int64, commands int32) {
	if overlap > 0 {
		s.Overlaps++
	}
	s.Overlap, s.OwnClock = max(s.Overlap, overlap), max(s.OwnClock, ownClock)
	s.OverlapCommands = max(s.OverlapCommands, commands)
}

// Violated are the properties seen violated.
func (s *Tally) Violated() (set property.Set) {
	for p, i := range s.First {
		if i > 0 {
			set = set.With(property.Property(p))
		}
	}
	return set &^ s.Sometimes
}

// Progress is the progress of a run with a total number of scenarios.
func (s *Tally) Progress(of int) engine.Progress {
	return engine.Progress{Scenarios: s.Scenarios, Of: of, Violated: bits.OnesCount32(uint32(s.Violated()))}
}

// Merge adds a tally of other scenarios.
func (s *Tally) Merge(o *Tally) {
	s.Scenarios += o.Scenarios
	s.Steps += o.Steps
	s.Commands += o.Commands
	s.Operations += o.Operations
	s.Undecided += o.Undecided
	s.unclear.take(o.unclear)
	s.Overlaps += o.Overlaps
	s.Overlap, s.OwnClock = max(s.Overlap, o.Overlap), max(s.OwnClock, o.OwnClock)
	s.OverlapCommands = max(s.OverlapCommands, o.OverlapCommands)
	s.Costs.Merge(&o.Costs)
	for p := range property.Property(property.Most) {
		s.Checks[p] += o.Checks[p]
		s.exercised[p] += o.exercised[p]
		s.violating[p] += o.violating[p]
		if o.First[p] > 0 && (s.First[p] == 0 || o.First[p] < s.First[p]) {
			s.First[p] = o.First[p]
		}
	}
	for k := range s.Seen {
		s.Seen[k] += o.Seen[k]
	}
	for point, i := range o.Covered {
		s.cover(point, i)
	}
}

// cover records that a scenario reaches a point.
func (s *Tally) cover(point sim.Point, i int) {
	if s.Covered == nil {
		s.Covered = make(map[sim.Point]int)
	}
	if first := s.Covered[point]; first == 0 || i < first {
		s.Covered[point] = i
	}
}

// Follow adds a tally of scenarios that come after all those of s, and are numbered separately.
func (s *Tally) Follow(o *Tally) {
	first, unclear := s.First, s.unclear
	s.Merge(o)
	if unclear.Scenario > 0 {
		s.unclear = unclear
	}
	for p, i := range first {
		s.First[p] = i
		if i == 0 {
			s.First[p] = o.First[p]
		}
	}
}

// Result is the tally's result for one property, without the violation. A custom property is one of list. start is the
// initial slots of the lock, if they are fixed.
func (s *Tally) Result(p property.Property, list own.List, failedAcquire property.FailedAcquire, start scenario.SlotSet) report.PropertyResult {
	r := report.PropertyResult{
		Property: p, Own: list.Of(p), Evidence: p.Evidence(), Checked: s.Checks[p], Scenarios: s.exercised[p], Violating: s.violating[p],
	}
	if r.Own != nil && r.Own.Sometimes {
		r.Violating = 0
		r.Note = fmt.Sprintf("seen in %d of %s, first in number %d", s.violating[p], style.Plural(s.Scenarios, "execution"), s.First[p])
		if s.violating[p] == 0 {
			r.Note, r.Undecided, r.Unclear = "", s.Scenarios, "not seen in "+style.Plural(s.Scenarios, "execution")
		}
	}
	if p == property.Linearizable {
		r.Note, r.Undecided = failedAcquire.Note(), s.Undecided
		if s.unclear.Why != "" {
			r.Unclear = fmt.Sprintf("%s of %s could not be decided, first that of execution %d: %s",
				style.Grouped(s.Undecided), style.Plural(s.Undecided+r.Checked, "history"), s.unclear.Scenario, s.unclear.Why)
		}
	}
	if p == property.Linearizable && scenario.Begin("", start).Missing != 0 {
		r.Skip = engine.Holes
	}
	return r
}
