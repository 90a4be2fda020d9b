package gated

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/property"
)

// longestName is the maximum length of a name that clients give themselves, in bytes.
const longestName = 1000

// mostTries is the maximum number of attempts to reproduce a violation that a part may state, if another process has
// made the part.
const mostTries = 1000

// Check returns an error if a part that another process has made cannot be a result of [ProvePart] for these scenarios.
// A part that passes the check may still be false. Only running its scenarios again would show that.
func (p *Part) Check(c Config, from, to int) error {
	run, err := c.run()
	if err != nil {
		return err
	}
	judged := run.Properties | property.ApplicableExternal(c.Kind) | property.Announceable
	if err := p.sum.Check(from, to, judged, p.Reproduced()&(c.Until|property.Announceable) != 0 || p.ended || p.Ended()); err != nil {
		return err
	}
	if err := checkAbout(&p.about); err != nil {
		return err
	}
	for q := range p.broken {
		if !property.Promises.Has(q) {
			return fmt.Errorf("property %d is broken: it is no promise", q)
		}
	}
	if min(p.agreed, p.uncontrolled) < 0 || p.uncontrolled > p.Scenarios() {
		return fmt.Errorf("%d not controlled in %d scenarios", p.uncontrolled, p.Scenarios())
	}
	for i, d := range p.findings {
		if d == nil {
			continue
		}
		if err := d.check(run, property.Property(i), from, to, p.sum.First[i]); err != nil {
			return fmt.Errorf("%s: %w", property.Property(i), err)
		}
	}
	return nil
}

// check checks a finding of property p in a part. A finding is invalid if its scenario is not among the part's, if its
// execution does not show the violation, or if it cannot be written as a counterexample.
func (d *finding) check(run *sharedRun, p property.Property, from, to, first int) error {
	switch {
	case first == 0 || d.scenario < first || d.scenario > to:
		return fmt.Errorf("found in scenario %d, violated first in %d, of %d to %d", d.scenario, first, from+1, to)
	case d.tries.Shown < 0 || d.tries.Of < d.tries.Shown || d.tries.Of > mostTries:
		return fmt.Errorf("shown in %d of %d tries", d.tries.Shown, d.tries.Of)
	}
	if _, shown := d.trace.Violation(p); !shown {
		return errors.New("its execution does not show it")
	}
	data, err := run.labels.Counterexample(p, d.trace, d.found(p)).Encode()
	if err == nil {
		_, err = histories.DecodeCounterexample("the execution", data)
	}
	return err
}

// checkAbout returns an error if what clients declare about themselves is impossible.
func checkAbout(a *foreign.About) error {
	if len(a.Name) > longestName || len(a.Locks) > longestName || len(a.Operations) > longestName {
		return fmt.Errorf("its clients call themselves something of %d bytes, with %d locks and %d operations", len(a.Name), len(a.Locks), len(a.Operations))
	}
	for _, k := range a.Locks {
		if !k.Known() {
			return fmt.Errorf("its clients have locks of type %d: there is none", uint8(k))
		}
	}
	return nil
}

// Again repeats the reproduced findings of a part that another process has made, each in its scenario, with this run's
// clients. It skips properties that before has already reproduced, because a run reports the first violation of a
// property. A finding that is reproduced replaces the one in the part. Any other finding is only suspected from then
// on. If run is false, Again starts no clients, and all these findings are only suspected. It returns the properties
// that are only suspected.
func (p *Part) Again(ctx context.Context, c Config, before *Part, run bool) (suspected property.Set, err error) {
	for i, d := range p.findings {
		q := property.Property(i)
		if d == nil || d.suspected() || before.Reproduced().Has(q) {
			continue
		}
		var own *finding
		if run {
			mine, err := ProvePart(ctx, c, d.scenario-1, d.scenario)
			if err != nil {
				return 0, err
			}
			own = mine.findings[i]
		}
		if own != nil && !own.suspected() {
			p.findings[i] = own
			continue
		}
		p.findings[i] = recorded(d.scenario, d.trace, 0)
		if own != nil {
			p.findings[i].tries.Of = own.tries.Of
		}
		suspected = suspected.With(q)
	}
	return suspected, nil
}
