package lockproof

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// Counterexamples are the violations that a result has traces of, in the order of the card, ready to
// be written. command is what was typed to find them.
func (r *Result) Counterexamples(command string) []*histories.Counterexample {
	var out []*histories.Counterexample
	for i := range r.Report.Properties {
		p := &r.Report.Properties[i]
		t := r.Traces[p.Property]
		if t == nil || p.Violation == nil {
			continue
		}
		ce := &histories.Counterexample{
			Exec: r.exec, Kind: r.kind, ExecOptions: r.options, Tool: Version, Property: p.Property, Strength: r.Strength, Scenario: sim.Replay(t), Transcript: histories.Transcript(t),
			Origin: histories.Origin{Seed: r.Report.Seed, Scenario: p.Violation.Scenario, Command: command},
		}
		ce.Violation, _ = violationOf(t, p.Property)
		ce.Violation.Detail = ce.Violation.Explain()
		out = append(out, ce)
	}
	return out
}

// violationOf is the first violation of a property in a trace.
func violationOf(t *scenario.Trace, p spec.Property) (scenario.Violation, bool) {
	i := slices.IndexFunc(t.Violations, func(v scenario.Violation) bool { return v.Property == p })
	if i < 0 {
		return scenario.Violation{}, false
	}
	return t.Violations[i], true
}

// Replayed is a counterexample carried out again on the simulated broker.
type Replayed struct {
	Target *lock.Target
	Trace  *scenario.Trace
	// Violation is what the counterexample is kept for, as it was seen this time; nil if it was not.
	Violation *scenario.Violation
}

// Replay carries out a counterexample on the simulated broker.
func Replay(ce *histories.Counterexample) (*Replayed, error) {
	target, err := TargetNamed(ce.Scenario.Target)
	if err != nil {
		return nil, fmt.Errorf("counterexample: %w", err)
	}
	var r sim.Runner
	t := &Replayed{Target: target, Trace: r.Trace(target, &ce.Scenario, ce.Strength)}
	if v, ok := violationOf(t.Trace, ce.Property); ok {
		t.Violation = &v
	}
	return t, nil
}
