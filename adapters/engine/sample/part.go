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

// Part is the result of some of a run's scenarios. Parts of disjoint scenarios add up to the result of one run of all of
// them. A part is stored as JSON, which only the same build of lockproof reads.
type Part struct{ sum tally.Tally }

// PartUnit is the number of scenarios between two checks whether a run is to end. A part that begins at a multiple of
// PartUnit ends where [Config].Until ends the whole run.
const PartUnit = blockSize

// ProvePart runs the scenarios [from, to) of a run, counted from 0. Violating executions are not minimised: see [Conclude].
// The error is also for the end of ctx before all scenarios were run.
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

// Check returns an error if a part that was read cannot be a result of [ProvePart] for these scenarios. A valid part may
// still be untrue: only carrying the scenarios out again shows that.
func (p *Part) Check(c Config, from, to int) error {
	c = c.filled()
	end := to
	for _, q := range (p.sum.Violated() & c.Until).BySeverity() { // the run ended with the block of the first violation
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

// Violated are the properties seen violated.
func (p *Part) Violated() property.Set { return p.sum.Violated() }

// Covered are the points that the executions reached, each with the first scenario, from 1, that reached it. It is nil
// unless [Config].Coverage is set.
func (p *Part) Covered() map[sim.Point]int { return p.sum.Covered }

// Progress is the progress of a run with a total number of scenarios.
func (p *Part) Progress(of int) engine.Progress {
	return p.sum.Progress(of)
}

// Scenario is the i-th scenario of the run, from 0. The configuration must be valid for [ProvePart].
func (c Config) Scenario(i int) scenario.Scenario {
	c = c.filled()
	return c.sampling(engine.Allowance{}).source.Scenario(i)
}

// Drawn is a set of scenarios of one configuration and one seed, with their result.
type Drawn struct {
	Config Config
	Part   *Part
}

// Conclude turns the merged parts of a run into the result that [Prove] gives: the first execution that violates a property
// is minimised, and everything is reported. Scenarios of further, from narrower configurations or other seeds, come after
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
