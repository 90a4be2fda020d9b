package sim

import (
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// Judge completes the verdict on the execution at hand: what the monitor found, and linearizability
// from the history where the execution is not its own witness. undecided says that the history was
// too large to decide.
func (r *Runner) Judge(strength spec.Strength) (found spec.PropertySet, undecided bool) {
	found = r.Monitor.Found
	if r.witnessed(strength) {
		return found, false
	}
	h := r.History()
	f := spec.CheckLinearizable(&h, spec.LinearizableOptions{Strength: strength})
	if f.Decision == spec.Illegal {
		found = found.With(spec.Linearizable)
	}
	return found, f.Decision == spec.Undecided
}

// witnessed reports whether the execution at hand is its own witness of linearizability.
func (r *Runner) witnessed(strength spec.Strength) bool {
	return r.Monitor.Strict || r.Monitor.Witnessed && strength == spec.Scan
}

// Violating is the actions of a trace up to the moment at which a property was seen violated, and
// whether it was.
func Violating(t *scenario.Trace, p spec.Property) ([]scenario.Action, bool) {
	for _, v := range t.Violations {
		if v.Property != p {
			continue
		}
		var actions []scenario.Action
		for i := range t.Steps[:min(v.Step+1, len(t.Steps))] {
			actions = append(actions, t.Steps[i].Action)
		}
		return actions, true
	}
	return nil, false
}
