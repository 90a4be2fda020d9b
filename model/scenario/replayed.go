package scenario

import "fmt"

// Replayed is what a trace came to on a real server.
type Replayed struct {
	Server string // what it calls itself
	// Skipped says why nothing was replayed; "" where it was.
	Skipped string
	// Agreed is how many steps, from the first, came to what was recorded; Steps is how many there are.
	Agreed, Steps int
	// Disagreement says at which step the servers part, and how; "" if they do not.
	Disagreement string
}

// Reproduces reports whether a violation of the trace was seen: every step agreed up to the one that shows it, so that it
// was the same execution.
func (r *Replayed) Reproduces(v Violation) bool {
	return r.Skipped == "" && r.Agreed >= min(v.Step+1, r.Steps)
}

// String says in a line what came of the replay.
func (r *Replayed) String() string {
	switch {
	case r.Skipped != "":
		return fmt.Sprintf("not replayed on %s: %s", r.Server, r.Skipped)
	case r.Disagreement != "":
		return r.Server + " disagrees at " + r.Disagreement
	}
	return fmt.Sprintf("%s agrees: the same replies in all of %d steps", r.Server, r.Steps)
}
