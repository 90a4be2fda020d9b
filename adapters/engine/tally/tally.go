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

// Tally is the summed result of a number of scenarios. Tallies of disjoint scenarios can be merged in any order, with
// the same result.
type Tally struct {
	Scenarios, Steps, Commands, Operations int
	Undecided                              int                     // number of histories with undecided linearizability
	unclear                                unclear                 // the first undecided history
	Checks                                 monitor.Counts          // number of tests of each property
	exercised                              [property.Most]int      // number of scenarios that test the property
	First                                  [property.Most]int      // number of the first violating scenario, or 0
	violating                              [property.Most]int      // number of scenarios that violate the property
	Seen                                   [sim.CoveragePoints]int // number of scenarios that reach each point
	Costs                                  monitor.Costs
	Overlap, OwnClock                      int64 // longest stale belief in virtual ms, by servers' and client's clock
	OverlapCommands                        int32
	Overlaps                               int               // number of scenarios with a stale belief
	Covered                                map[sim.Point]int // first scenario to reach each point, from 1; or nil
	Sometimes                              property.Set      // custom properties that should occur at least once
}

// unclear is a history whose linearizability is undecided.
type unclear struct {
	Scenario int    `json:"scenario"` // number of the scenario, from 1; 0 if none
	Why      string `json:"why"`
}

// Unclear records that linearizability of the i-th execution's history is undecided, and why.
func (s *Tally) Unclear(i int, why string) {
	s.Undecided++
	s.unclear.take(unclear{i + 1, why})
}

// take sets u to o if o's scenario is earlier, or if u has no history yet. It ignores an o without a history.
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

// Note adds the properties that the i-th execution tested and violated, and the points that it reached.
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

// CoverAll adds the coverage points that the runner reached for the first time in the i-th execution.
func (s *Tally) CoverAll(i int, c *sim.Coverage) {
	if c == nil {
		return
	}
	for _, point := range c.Points {
		s.cover(point, i+1)
	}
	c.Points = c.Points[:0]
}

// Stale adds the duration of a stale belief: the time for which a client believed that it held a slot after another
// client was granted it. The duration is in virtual milliseconds, by the servers' clock and by the believing client's
// clock, and in commands.
func (s *Tally) Stale(overlap, ownClock int64, commands int32) {
	if overlap > 0 {
		s.Overlaps++
	}
	s.Overlap, s.OwnClock = max(s.Overlap, overlap), max(s.OwnClock, ownClock)
	s.OverlapCommands = max(s.OverlapCommands, commands)
}

// Violated returns the properties that some execution violated.
func (s *Tally) Violated() (set property.Set) {
	for p, i := range s.First {
		if i > 0 {
			set = set.With(property.Property(p))
		}
	}
	return set &^ s.Sometimes
}

// Progress tells how many of the run's scenarios the tally covers. of is the run's total number of scenarios.
func (s *Tally) Progress(of int) engine.Progress {
	return engine.Progress{Scenarios: s.Scenarios, Of: of, Violated: bits.OnesCount32(uint32(s.Violated()))}
}

// Merge adds the tally of other scenarios of the same run.
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

// Follow adds a tally of further scenarios, which count as run after those of s and have numbers of their own.
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

// Result returns the tally's result for one property, without a violation's details. list contains the custom
// properties. start is the fixed set of initial slots of the lock; 0 if it is not fixed.
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
