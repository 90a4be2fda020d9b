package engine

import (
	"time"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// report says what a sample came to.
func (c *Config) report(s *sample, traces map[property.Property]*scenario.Trace) *report.Report {
	r := &report.Report{
		Tool: Version, Target: c.Target.Name, Doc: c.Target.Doc, Kind: c.Target.Kind, Mode: report.Sampled,
		Broker: simulatedOf(c.Target), Seed: c.Seed, FailedAcquire: c.FailedAcquire.String(), Bounds: c.Shape.String(), Fixed: assigned(c.Options),
		Scenarios: s.scenarios, Steps: s.steps, Commands: s.commands, Operations: s.operations,
		Efficiency: Efficiency(&s.costs, c.Target.Kind),
		Stale: report.Overlap{
			Commands: int(s.overlapCommands), Time: time.Duration(s.overlap) * time.Millisecond,
			Own: time.Duration(s.ownClock) * time.Millisecond, Scenarios: s.overlaps,
		},
	}
	for p := range property.Property(property.Most) {
		if c.Properties.Has(p) {
			result := s.result(p, c.Own, c.FailedAcquire, c.Shape.Start)
			if t := traces[p]; t != nil {
				result.Violation = foundIn(t, p)
				result.Violation.Scenario = s.first[p]
			}
			r.Properties = append(r.Properties, result)
		}
	}
	r.Properties = append(r.Properties, omitted(c.Target, c.Properties)...)
	for k := range sim.CoveragePoints {
		r.Exercised = append(r.Exercised, report.Exercise{Name: k.Of(c.Target.Kind), Scenarios: s.seen[k]})
	}
	return r
}
