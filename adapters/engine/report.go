package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
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
			result := c.result(p, s)
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

// omitted are the properties that mean nothing for a target, though they do for others of its type, and why. They are told
// of where all others are judged.
func omitted(t *lock.Target, judged property.Set) (out []report.PropertyResult) {
	if property.Of(t)&^judged != 0 {
		return nil // some were asked for
	}
	why := property.Skipped(t)
	for p := range property.Applicable(t.Kind).All() {
		if why[p] != "" {
			out = append(out, report.PropertyResult{Property: p, Evidence: p.Evidence(), Skip: why[p]})
		}
	}
	return out
}

// result says what a sample came to for one property, but for its violation.
func (c *Config) result(p property.Property, s *sample) report.PropertyResult {
	r := report.PropertyResult{
		Property: p, Own: c.Own.Of(p), Evidence: p.Evidence(), Checked: s.checks[p], Scenarios: s.exercised[p], Violating: s.violating[p],
	}
	if r.Own != nil && r.Own.Sometimes {
		r.Violating = 0
		r.Note = fmt.Sprintf("seen in %d of %s, first in number %d", s.violating[p], style.Plural(s.scenarios, "execution"), s.first[p])
		if s.violating[p] == 0 {
			r.Note, r.Undecided, r.Unclear = "", s.scenarios, "not seen in "+style.Plural(s.scenarios, "execution")
		}
	}
	if p == property.Linearizable {
		r.Note, r.Undecided = c.FailedAcquire.Note(), s.undecided
	}
	if p == property.Linearizable && scenario.Begin("", c.Shape.Start).Missing != 0 {
		r.Skip = holes
	}
	return r
}

// assigned are options as they are typed.
func assigned(options [][2]string) (out []string) {
	for _, o := range options {
		out = append(out, o[0]+"="+o[1])
	}
	return out
}

// Drawing is an execution as plain text.
func Drawing(t *scenario.Trace) string {
	var b strings.Builder
	draw.Draw(&b, t, style.Style{}) // a strings.Builder takes everything
	return b.String()
}

// budgets are what operations may cost, where that is limited. An acquire of a later slot, or one
// that finds all taken, is judged slot by slot by the property cheap-acquire.
var budgets = map[monitor.CostClass]report.Budget{
	monitor.AcquireFirst: {RoundTrips: 4, Channels: 0, Connections: 0},
	monitor.AcquireFull:  {RoundTrips: -1, Channels: 0, Connections: 0},
	monitor.VerifyHeld:   {RoundTrips: 1, Channels: 0, Connections: 0},
}

// Efficiency is what operations cost, as a report tells of it.
func Efficiency(costs *monitor.Costs, kind lock.Kind) []report.EfficiencyRow {
	var rows []report.EfficiencyRow
	for k := range monitor.CostClasses {
		t := &costs[k]
		if t.Count == 0 {
			continue
		}
		row := report.EfficiencyRow{
			Operation: k.Of(kind), Count: t.Count,
			Commands: spread(t, monitor.Commands), RoundTrips: spread(t, monitor.Trips), Unpipelined: spread(t, monitor.Replies),
			Channels: spread(t, monitor.Channels), Connections: spread(t, monitor.Connections),
		}
		if b, ok := budgets[k]; ok {
			row.Budget = &b
		}
		rows = append(rows, row)
	}
	return rows
}

func spread(t *monitor.Tally, measure int) report.Spread {
	return report.Spread{Count: t.Count, Sum: t.Sum[measure], Min: t.Min[measure], Max: t.Max[measure]}
}
