package scenario

import "fmt"

// Replayed is the result of a trace on a real server.
type Replayed struct {
	Server string // what it calls itself
	// Skipped says why nothing was replayed; "" where it was.
	Skipped string
	// Agreed is the number of steps, from the first, with the recorded results; Steps is the number of all.
	Agreed, Steps int
	// Disagreement says at which step the servers part, and how; "" if they do not.
	Disagreement string
}

// Follow carries out the steps of a trace until a server answers otherwise: take carries one out, and says what differs; ""
// is nothing. Its error is told with the step.
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

// Reproduces reports whether a violation of the trace was seen: every step agreed up to the one that shows it, so that it
// was the same execution.
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
