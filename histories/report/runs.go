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
