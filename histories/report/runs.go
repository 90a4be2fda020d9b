package report

import (
	"github.com/lockproof/lockproof/histories/style"
	"strings"
)

// Runs is what a run visited that has carried out executions one by one.
type Runs struct {
	Whole   int // executions
	Blocked int // executions that ended early, since all that they could come to had been visited
	// Incomplete says why not every execution was visited, or one that is equivalent to it; "" is all were.
	Incomplete string
	// Preemptions is how often an execution turns from a client that could go on, at most; nil is any number. With a bound
	// nothing is proved: what is said of a property is of those orders.
	Preemptions *int
}

// bounded says of which orders the executions are, "" where they are of all.
func (r *Runs) bounded() string {
	if r == nil || r.Preemptions == nil || r.Incomplete != "" {
		return ""
	}
	return "every order with at most " + style.Plural(*r.Preemptions, "preemption")
}

// cardRuns is what the card tells of the executions visited.
func cardRuns(r *Report, s style.Style) []style.Line {
	runs := r.Runs
	if runs == nil {
		return nil
	}
	visited := []string{style.Plural(runs.Whole, "execution")}
	if runs.Blocked > 0 {
		visited = append(visited, style.Grouped(runs.Blocked)+" more ended early: all that they could come to had been visited")
	}
	out := labelled("visited", strings.Fields(strings.Join(visited, "; ")), style.Plain, s)
	if runs.Incomplete != "" {
		out = append(out, labelled("not everything", strings.Fields(runs.Incomplete+", so that nothing is proved"), style.Yellow, s)...)
	}
	return out
}
