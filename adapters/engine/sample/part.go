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
// them. It is written as JSON, for the same build of lockproof to read.
type Part struct{ sum tally.Tally }

// PartUnit is how many scenarios are run before it is looked whether a run is to end. A part that begins at a multiple
// of it ends where [Config].Until ends the whole run.
const PartUnit = blockSize

// ProvePart runs the scenarios of a run from one number up to another, which is left out, counted from 0. Violating
// executions are not made smaller: see [Conclude]. The error is also for a ctx that is over before all of them are run.
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

// Check says why a part that was read cannot be what [ProvePart] makes of these scenarios. A part that fits may still be
// untrue: only carrying the scenarios out again shows that.
func (p *Part) Check(c Config, from, to int) error {
	c = c.filled()
	end := to
	for _, q := range (p.sum.Violated() & c.Until).BySeverity() { // the run ended with the block of the first
		if i := p.sum.First[q] - 1 - from; i >= 0 {
			end = min(end, from+(i/PartUnit+1)*PartUnit)
		}
	}
	if p.sum.Covered != nil && !c.Coverage {
		return errors.New("it says what was covered, and nobody asked for that")
	}
	return p.sum.Check(from, end, c.Properties, false)
}

// Merge adds what other scenarios of the same run came to.
func (p *Part) Merge(o *Part) { p.sum.Merge(&o.sum) }

// Scenarios is how many it is of.
func (p *Part) Scenarios() int { return p.sum.Scenarios }

// Violated are the properties that were seen violated.
func (p *Part) Violated() property.Set { return p.sum.Violated() }

// Covered are the points that the executions reached, each with the first scenario that reaches it, counted from 1. It is
// nil where [Config].Coverage was not asked for.
func (p *Part) Covered() map[sim.Point]int { return p.sum.Covered }

// Progress is how far a run of so many scenarios is.
func (p *Part) Progress(of int) engine.Progress {
	return p.sum.Progress(of)
}

// Scenario is the i-th scenario of the run, counted from 0. The configuration must be one that [ProvePart] takes.
func (c Config) Scenario(i int) scenario.Scenario {
	c = c.filled()
	return c.sampling(engine.Allowance{}).source.Scenario(i)
}

// Drawn is scenarios of one space and one seed, and what they came to.
type Drawn struct {
	Config Config
	Part   *Part
}

// Conclude makes of parts what [Prove] makes of a run: the first execution that violates a property is made smaller,
// once, and all of it is reported. Further scenarios, of narrower spaces and other seeds, come after those of d.
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
