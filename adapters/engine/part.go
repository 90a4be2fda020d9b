package engine

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"time"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Part is the result of some of a run's scenarios. Parts of disjoint scenarios add up to the result of one run of all of
// them. It is written as JSON, for the same build of lockproof to read.
type Part struct{ sample }

// PartUnit is how many scenarios are run before it is looked whether a run is to end. A part that begins at a multiple
// of it ends where [Config].Until ends the whole run.
const PartUnit = blockSize

// ProvePart runs the scenarios of a run from one number up to another, which is left out, counted from 0. What violates
// a property is not made smaller: see [Conclude]. The error is also for a ctx that is over before all of them are run.
func ProvePart(ctx context.Context, c Config, from, to int) (*Part, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, configuration(err)
	}
	if from < 0 || to < from {
		return nil, fmt.Errorf("scenarios %d to %d: expected the first not to come after the last", from, to)
	}
	allowed, cancel := allow(ctx, 0)
	defer cancel()
	sum := c.sampling(allowed).run(from, to)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &Part{*sum}, nil
}

// Merge adds what other scenarios of the same run came to.
func (p *Part) Merge(o *Part) { p.merge(&o.sample) }

// Scenarios is how many it is of.
func (p *Part) Scenarios() int { return p.scenarios }

// Violated are the properties that were seen violated.
func (p *Part) Violated() property.Set { return p.violated() }

// Covered are the points that were come to, each with the first scenario that comes to it, counted from 1. It is nil
// where [Config].Coverage was not asked for.
func (p *Part) Covered() map[sim.Point]int { return p.covered }

// Progress is how far a run of so many scenarios is.
func (p *Part) Progress(of int) Progress {
	return Progress{Scenarios: p.scenarios, Of: of, Violated: bits.OnesCount32(uint32(p.violated()))}
}

// Scenario is the i-th scenario of the run, counted from 0. The configuration must be one that [ProvePart] takes.
func (c Config) Scenario(i int) scenario.Scenario {
	c = c.filled()
	return c.sampling(allowance{}).source.Scenario(i)
}

// Drawn is scenarios of one space and one seed, and what they came to.
type Drawn struct {
	Config Config
	Part   *Part
}

// Conclude makes of parts what [Prove] makes of a run: the first execution that violates a property is made smaller,
// once, and all of it is reported. Further scenarios, of narrower spaces and other seeds, come after those of d.
func Conclude(ctx context.Context, d Drawn, further ...Drawn) (*Result, error) {
	began := time.Now()
	allowed, cancel := allow(ctx, 0)
	defer cancel()
	res := &Result{
		FailedAcquire: d.Config.FailedAcquire, Traces: make(map[property.Property]*scenario.Trace), others: make(map[property.Property]labels),
	}
	sum := new(sample)
	for i, d := range append([]Drawn{d}, further...) {
		c := d.Config.filled()
		if err := c.check(); err != nil {
			return nil, configuration(err)
		}
		run := c.sampling(allowed)
		run.sum = d.Part.sample
		found := run.minimise(run.sum.violated() &^ sum.violated())
		maps.Copy(res.Traces, found)
		if i == 0 {
			res.labels = run.labels
		} else {
			for p := range found {
				res.others[p] = run.labels
			}
		}
		sum.follow(&d.Part.sample)
	}
	c := d.Config.filled()
	res.Report = c.report(sum, res.Traces)
	for p, l := range res.others {
		res.Report.Result(p).Violation.Seed = l.origin.Seed
	}
	res.Report.Elapsed = time.Since(began)
	res.Report.Interrupted = ctx.Err() != nil
	return res, nil
}

// follow adds a sample of scenarios that come after all of s, and have numbers of their own.
func (s *sample) follow(o *sample) {
	first := s.first
	s.merge(o)
	for p, i := range first {
		s.first[p] = i
		if i == 0 {
			s.first[p] = o.first[p]
		}
	}
}
