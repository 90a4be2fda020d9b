package lockproof

import (
	"cmp"
	"strings"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
)

// Counterexample is an execution that violates a property. Counterexamples of Check have only a Detail.
type Counterexample struct {
	Property  Property
	Detail    string // what happened, in one line
	Diagram   string // the execution, drawn in plain text
	Steps     int
	Least     bool   // no execution within the bounds has fewer steps
	Execution int    // number of the first execution that showed the violation, counted from 1
	Target    Target // the lock whose clients Replay runs
	Name      string // name of the target, or its shell command
	file      *histories.Counterexample
}

// LoadCounterexample reads a counterexample from a file. Set its Target if the lock is external or a [Protocol].
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

// Save writes the counterexample to a JSON file, atomically.
func (c *Counterexample) Save(path string) error {
	if c.file == nil {
		return invalid("saving %s: there is no execution that replays", c.Property)
	}
	return c.file.Save(path)
}

// counterexampleOf converts a counterexample that was read from a file. t is its lock.
func counterexampleOf(ce *histories.Counterexample, t Target) *Counterexample {
	return &Counterexample{
		Property: Property(ce.Violation.Name()), Detail: ce.Violation.Detail, Diagram: strings.Join(ce.Transcript, "\n"),
		Steps: len(ce.Transcript), Execution: ce.Origin.Scenario, Target: t, Name: cmp.Or(ce.Exec, ce.Scenario.Target), file: ce,
	}
}

// foundBy converts the violation p, which a run of target t found. ce is the execution; nil if it cannot be replayed.
func foundBy(t Target, p *report.PropertyResult, ce *histories.Counterexample) *Counterexample {
	v := p.Violation
	return &Counterexample{
		Property: Property(p.Name()), Detail: v.Detail, Diagram: v.Diagram, Steps: v.Steps, Least: v.Least,
		Execution: v.Scenario, Target: t, Name: t.shown(), file: ce,
	}
}
