package sim

import (
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Judge completes the verdict on the execution at hand: what the monitor found, and linearizability
// from the history where the execution is not its own witness. undecided says that the history was
// too large to decide.
func (r *Runner) Judge(strength property.Strength) (found property.Set, undecided bool) {
	found = r.Monitor.Found
	if !r.scenario.HistoryTells() || r.witnessed(strength) {
		return found, false
	}
	h := r.History()
	f := linear.Check(&h, linear.Options{Strength: strength})
	if f.Decision == linear.Illegal {
		found = found.With(property.Linearizable)
	}
	return found, f.Decision == linear.Undecided
}

// witnessed reports whether the execution at hand is its own witness of linearizability.
func (r *Runner) witnessed(strength property.Strength) bool {
	return r.Monitor.Strict || r.Monitor.Witnessed && strength == property.Scan
}

// Violating is the actions of a trace up to the moment at which a property was seen violated, and
// whether it was.
func Violating(t *scenario.Trace, p property.Property) ([]scenario.Action, bool) {
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
