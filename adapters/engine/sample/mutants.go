package sample

import (
	"context"
	"fmt"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// MutantLimit is the maximum number of scenarios to run until a mutant's violation must have been seen.
const MutantLimit = 2000

// Killed is the result of running one mutant.
type Killed struct {
	Mutant   *lock.Target
	Property property.Property // the property that the mutant was made to violate
	// Scenarios is the number of scenarios until the violation was seen; 0 if it was not seen within the limit.
	Scenarios int
	// Also are the other properties that were violated until then.
	Also  []property.Property
	Trace *scenario.Trace // the minimised execution that violates Property; nil if none was found
}

// KillConfig returns the configuration of a run that ends when the mutant violates the property that it was made to
// violate. limit is the maximum number of scenarios.
func KillConfig(mutant *lock.Target, seed uint64, limit int) (Config, error) {
	p, err := property.Named(mutant.Breaks)
	if err != nil {
		return Config{}, fmt.Errorf("target %s is no mutant: %w", mutant.Name, err)
	}
	return Config{Target: mutant, Sampling: engine.Sampling{Seed: seed, Scenarios: limit, Until: property.Set(0).With(p)}}, nil
}

// Kill runs a mutant until it violates the property that it was made to violate.
func Kill(ctx context.Context, mutant *lock.Target, seed uint64, limit int) (*Killed, error) {
	c, err := KillConfig(mutant, seed, limit)
	if err != nil {
		return nil, err
	}
	res, err := Prove(ctx, c)
	if err != nil {
		return nil, err
	}
	return KilledBy(c, res), nil
}

// KilledBy extracts the result for a mutant from the result of a run that KillConfig configured.
func KilledBy(c Config, res *engine.Result) *Killed {
	p := c.Until.BySeverity()[0]
	k := &Killed{Mutant: c.Target, Property: p, Trace: res.Traces[p]}
	for i := range res.Report.Properties {
		r := &res.Report.Properties[i]
		switch {
		case r.Violation == nil:
		case r.Property == p:
			k.Scenarios = r.Violation.Scenario
		default:
			k.Also = append(k.Also, r.Property)
		}
	}
	return k
}
