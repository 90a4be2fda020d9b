package sample

import (
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// report creates the report about drawn scenarios.
func (c *Config) report(s *tally.Tally, traces map[property.Property]*scenario.Trace) *report.Report {
	r := &report.Report{
		Tool: engine.Version, Target: c.Target.Name, Doc: c.Target.Doc, Kind: c.Target.Kind, Mode: report.Sampled,
		Broker: engine.SimulatedOf(c.Target), Seed: c.Seed, FailedAcquire: c.FailedAcquire.String(), Bounds: c.Shape.String(), Fixed: engine.Assigned(c.Options),
		Scenarios: s.Scenarios, Asked: c.Scenarios, Steps: s.Steps, Commands: s.Commands, Operations: s.Operations,
		Efficiency: engine.Efficiency(&s.Costs, c.Target.Kind, property.Of(c.Target)),
		Stale: report.Overlap{
			Commands: int(s.OverlapCommands), Time: time.Duration(s.Overlap) * time.Millisecond,
			Own: time.Duration(s.OwnClock) * time.Millisecond, Scenarios: s.Overlaps,
		},
	}
	for p := range property.Property(property.Most) {
		if c.Properties.Has(p) {
			result := s.Result(p, c.Own, c.FailedAcquire, c.Shape.Start)
			if t := traces[p]; t != nil {
				result.Violation = engine.FoundIn(t, p)
				result.Violation.Scenario = s.First[p]
			}
			r.Properties = append(r.Properties, result)
		}
	}
	r.Properties = append(r.Properties, engine.Omitted(c.Target, c.Properties)...)
	for k := range sim.CoveragePoints {
		r.Exercised = append(r.Exercised, report.Exercise{Name: k.Of(lock.BackendOf(c.Target).Words, c.Target.Kind), Scenarios: s.Seen[k]})
	}
	return r
}
