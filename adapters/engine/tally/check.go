package tally

import (
	"fmt"

	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// mostOfOne is the maximum that one scenario may add to any counter, so that sums do not overflow.
const mostOfOne = 1 << 20

// Check returns an error if s cannot be the result of the scenarios [from, to), counted from 0. judged are the judged
// properties. If short is set, s may cover only the first of these scenarios. s may have been read from an untrusted
// file: a tally that passes the check may still be false.
func (s *Tally) Check(from, to int, judged property.Set, short bool) error {
	n := s.Scenarios
	if n > to-from || n < 1 || n < to-from && !short {
		return fmt.Errorf("it is of %d scenarios, expected %d", n, to-from)
	}
	for name, number := range map[string]int{"steps": s.Steps, "commands": s.Commands, "operations": s.Operations, "undecided": s.Undecided, "overlaps": s.Overlaps} {
		if number < 0 || number > n*mostOfOne {
			return fmt.Errorf("%s: found %d in %d scenarios", name, number, n)
		}
	}
	if s.Undecided > n || s.Overlaps > n || s.Overlap < 0 || s.OwnClock < 0 || s.OverlapCommands < 0 || (s.Overlap > 0) != (s.Overlaps > 0) {
		return fmt.Errorf("%d undecided and %d overlaps in %d scenarios, of %d and %d ms and %d commands", s.Undecided, s.Overlaps, n, s.Overlap, s.OwnClock, s.OverlapCommands)
	}
	if u := s.unclear; (u.Scenario != 0 || s.Undecided > 0) && (u.Scenario <= from || u.Scenario > from+n || s.Undecided == 0) {
		return fmt.Errorf("%d undecided, the first in scenario %d of %d to %d", s.Undecided, u.Scenario, from+1, from+n)
	}
	for p := range property.Property(property.Most) {
		if err := s.checkProperty(p, from, n, judged); err != nil {
			return err
		}
	}
	for k, number := range s.Seen {
		if number < 0 || number > n {
			return fmt.Errorf("situation %d: seen in %d of %d scenarios", k, number, n)
		}
	}
	for point, i := range s.Covered {
		if i <= from || i > from+n {
			return fmt.Errorf("point %d: covered first in scenario %d, expected %d to %d", point, i, from+1, from+n)
		}
	}
	return checkCosts(&s.Costs, n)
}

// checkProperty checks the numbers of one property. from is the first scenario, and n the number of scenarios.
func (s *Tally) checkProperty(p property.Property, from, n int, judged property.Set) error {
	first, violating := s.First[p], s.violating[p]
	switch {
	case p >= property.Count && (s.Checks[p] != 0 || s.exercised[p] != 0 || first != 0 || violating != 0):
		return fmt.Errorf("property %d: there is none", p)
	case s.Checks[p] < 0 || s.Checks[p] > n*mostOfOne || s.exercised[p] < 0 || s.exercised[p] > n:
		return fmt.Errorf("%s: checked %d times in %d of %d scenarios", p, s.Checks[p], s.exercised[p], n)
	case violating < 0 || violating > n || (violating > 0) != (first > 0):
		return fmt.Errorf("%s: violated in %d of %d scenarios, first in %d", p, violating, n, first)
	case first != 0 && (first <= from || first > from+n):
		return fmt.Errorf("%s: first violated in scenario %d, expected %d to %d", p, first, from+1, from+n)
	case first != 0 && !judged.Has(p):
		return fmt.Errorf("%s: violated, and it is not judged", p)
	}
	return nil
}

// checkCosts returns an error if the costs of operations are impossible for n scenarios.
func checkCosts(costs *monitor.Costs, n int) error {
	for class := range costs {
		c := &costs[class]
		if c.Count < 0 || c.Count > n*mostOfOne {
			return fmt.Errorf("cost of %s: of %d operations in %d scenarios", monitor.CostClass(class), c.Count, n)
		}
		for k := range c.Sum {
			least, most, sum := c.Min[k], c.Max[k], c.Sum[k]
			if least < 0 || most > mostOfOne || least > most || sum < least*c.Count || sum > most*c.Count {
				return fmt.Errorf("cost of %s: %d to %d, %d in all, of %d operations", monitor.CostClass(class), least, most, sum, c.Count)
			}
		}
	}
	return nil
}
