package scenario

import "fmt"

// Replayed is the result of replaying a trace on a real server.
type Replayed struct {
	Server string // name that the server reports
	// Skipped says why the trace was not replayed; "" if it was.
	Skipped string
	// Agreed is the number of steps that gave the recorded result before the first that did not. Steps is the number of
	// all steps.
	Agreed, Steps int
	// Disagreement describes the first difference and its step; "" if there is none.
	Disagreement string
}

// Follow replays a trace on a server until the server answers differently. take carries out step number i and returns
// the difference to the recorded result; "" is none. Follow adds the step to an error of take.
func (r *Replayed) Follow(t *Trace, take func(i int, step *TraceStep) (said string, err error)) error {
	for i := range t.Steps {
		step := &t.Steps[i]
		said, err := take(i, step)
		if err != nil {
			return fmt.Errorf("replaying on %s, step %d: %w", r.Server, i+1, err)
		}
		if said != "" {
			r.Disagreement = fmt.Sprintf("step %d (%s): %s", i+1, step.Action, said)
			return nil
		}
		r.Agreed++
	}
	return nil
}

// Reproduces reports whether the replay shows violation v: all steps up to the one that shows it had the recorded
// results.
func (r *Replayed) Reproduces(v Violation) bool {
	return r.Skipped == "" && r.Agreed >= min(v.Step+1, r.Steps)
}

// String is the result of the replay in a line.
func (r *Replayed) String() string {
	switch {
	case r.Skipped != "":
		return fmt.Sprintf("not replayed on %s: %s", r.Server, r.Skipped)
	case r.Disagreement != "":
		return r.Server + " disagrees at " + r.Disagreement
	}
	return fmt.Sprintf("%s agrees: the same replies in all of %d steps", r.Server, r.Steps)
}
