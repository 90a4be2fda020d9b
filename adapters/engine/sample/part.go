package sample

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Part is the result of some of a run's scenarios. Merging the parts of all scenarios gives the result of the whole
// run. A part is stored as JSON. Only the lockproof build that wrote a part can read it.
type Part struct{ sum tally.Tally }

// PartUnit is the number of scenarios after which a run checks whether it must end. If a part begins at a multiple of
// PartUnit, [Config].Until ends it at the same scenario as the whole run.
const PartUnit = blockSize

// ProvePart runs the scenarios [from, to) of a run, counted from 0. It does not minimise violating executions: see
// [Conclude]. It returns an error if ctx ends before all scenarios have run.
func ProvePart(ctx context.Context, c Config, from, to int) (*Part, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, engine.Configuration(err)
	}
	if from < 0 || to < from {
		return nil, fmt.Errorf("scenarios %d to %d: expected the first not to come after the last", from, to)
	}
	allowed, cancel := engine.Allow(ctx, 0)
	defer cancel()
	sum := c.sampling(allowed).run(from, to)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Part{sum: *sum}, nil
}

// Check returns an error if a part that another process has made cannot be a result of [ProvePart] for these scenarios.
// A part that passes the check may still be false. Only running its scenarios again would show that.
func (p *Part) Check(c Config, from, to int) error {
	c = c.filled()
	end := to
	for _, q := range (p.sum.Violated() & c.Until).BySeverity() { // a violation ended the run after its block
		if i := p.sum.First[q] - 1 - from; i >= 0 {
			end = min(end, from+(i/PartUnit+1)*PartUnit)
		}
	}
	if p.sum.Covered != nil && !c.Coverage {
		return errors.New("it says what was covered, and nobody asked for that")
	}
	return p.sum.Check(from, end, c.Properties, false)
}

// Merge adds the result of other scenarios of the same run.
func (p *Part) Merge(o *Part) { p.sum.Merge(&o.sum) }

// Scenarios is the number of the part's scenarios.
func (p *Part) Scenarios() int { return p.sum.Scenarios }

// Violated returns the properties that the part's executions violate.
func (p *Part) Violated() property.Set { return p.sum.Violated() }

// Covered returns the coverage points that executions reached. The value is the first scenario, counted from 1, that
// reached the point. Covered is nil unless [Config].Coverage is set.
func (p *Part) Covered() map[sim.Point]int { return p.sum.Covered }

// Progress tells how many of the run's scenarios the part covers. of is the run's total number of scenarios.
func (p *Part) Progress(of int) engine.Progress {
	return p.sum.Progress(of)
}

// Scenario returns scenario i of the run, counted from 0. The configuration must be valid for [ProvePart].
func (c Config) Scenario(i int) scenario.Scenario {
	c = c.filled()
	return c.sampling(engine.Allowance{}).source.Scenario(i)
}

// Drawn is the result of scenarios that were drawn with one configuration and one seed.
type Drawn struct {
	Config Config
	Part   *Part
}

// Conclude turns the merged parts of a run into the result that [Prove] would return. It minimises the first execution
// that violates each property. further are scenarios of narrower configurations or other seeds; they count as run after
// those of d.
func Conclude(ctx context.Context, d Drawn, further ...Drawn) (*engine.Result, error) {
	began := time.Now()
	allowed, cancel := engine.Allow(ctx, 0)
	defer cancel()
	res := &engine.Result{
		Traces: make(map[property.Property]*scenario.Trace), Others: make(map[property.Property]engine.Labels),
	}
	sum := new(tally.Tally)
	for i, d := range append([]Drawn{d}, further...) {
		c := d.Config.filled()
		if err := c.check(); err != nil {
			return nil, engine.Configuration(err)
		}
		run := c.sampling(allowed)
		run.sum = d.Part.sum
		found := run.minimise(run.sum.Violated() &^ sum.Violated())
		maps.Copy(res.Traces, found)
		if i == 0 {
			res.Labels = run.labels
		} else {
			for p := range found {
				res.Others[p] = run.labels
			}
		}
		sum.Follow(&d.Part.sum)
	}
	c := d.Config.filled()
	res.Report = c.report(sum, res.Traces)
	for p, l := range res.Others {
		res.Report.Result(p).Violation.Seed = l.Origin.Seed
	}
	res.Report.Elapsed = time.Since(began)
	res.Report.Interrupted = ctx.Err() != nil
	return res, nil
}

// MarshalJSON implements json.Marshaler.
func (p *Part) MarshalJSON() ([]byte, error) { return p.sum.MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Part) UnmarshalJSON(data []byte) error { return p.sum.UnmarshalJSON(data) }
