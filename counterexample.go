package lockproof

import (
	"cmp"
	"strings"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
)

// Counterexample is an execution that violates a property; of Check, a Detail.
type Counterexample struct {
	Property  Property
	Detail    string // what happened, in one line
	Diagram   string // the execution, drawn in plain text
	Steps     int
	Least     bool   // no execution within the bounds has fewer
	Execution int    // the one that first showed it, counted from 1
	Target    Target // replays it
	Name      string // of the target, or its command
	file      *histories.Counterexample
}

// LoadCounterexample reads a file. Set its Target if external, or a Protocol.
func LoadCounterexample(path string) (*Counterexample, error) {
	ce, err := histories.LoadCounterexample(path)
	if err != nil {
		return nil, err
	}
	t := Target{}
	if named, err := engine.TargetNamed(ce.Scenario.Target); err == nil && ce.Exec == "" {
		t = ours(named)
	}
	return counterexampleOf(ce, t), nil
}

// Save writes it to a JSON file, whole or not at all.
func (c *Counterexample) Save(path string) error {
	if c.file == nil {
		return invalid("saving %s: there is no execution that replays", c.Property)
	}
	return c.file.Save(path)
}

// counterexampleOf is the execution of a file.
func counterexampleOf(ce *histories.Counterexample, t Target) *Counterexample {
	return &Counterexample{
		Property: Property(ce.Violation.Name()), Detail: ce.Violation.Detail, Diagram: strings.Join(ce.Transcript, "\n"),
		Steps: len(ce.Transcript), Execution: ce.Origin.Scenario, Target: t, Name: cmp.Or(ce.Exec, ce.Scenario.Target), file: ce,
	}
}

// foundBy is the violation of a property that a run of a target has found, with its execution if that replays.
func foundBy(t Target, p *report.PropertyResult, ce *histories.Counterexample) *Counterexample {
	v := p.Violation
	return &Counterexample{
		Property: Property(p.Name()), Detail: v.Detail, Diagram: v.Diagram, Steps: v.Steps, Least: v.Least,
		Execution: v.Scenario, Target: t, Name: t.shown(), file: ce,
	}
}
