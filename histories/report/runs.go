package report

import (
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Runs is what a run visited that has carried out executions one by one.
type Runs struct {
	Whole   int // executions
	Blocked int // executions that ended early: all their continuations had been visited
	// Audited is how many of the whole ones were audited. The others came to what one of those had come to.
	Audited int
	// Incomplete says why not every execution was visited, or one that is equivalent to it; "" is all were.
	Incomplete string
	// Preemptions is how often an execution turns from a client that could go on, at most; nil is any number. With a bound
	// nothing is proved: what is said of a property is of those orders.
	Preemptions *int
	// NotExplored are operations and faults that the target's clients support, and that no visited execution has: the
	// verdicts do not cover them.
	NotExplored []string
}

// bounded says of which executions a verdict is that something holds, "" where they are all.
func (r *Runs) bounded(v Verdict) string {
	if r == nil || v != Passed && v != Proved {
		return ""
	}
	var said []string
	if r.Preemptions != nil && r.Incomplete == "" {
		said = append(said, "every order with at most "+style.Plural(*r.Preemptions, "preemption"))
	}
	if len(r.NotExplored) > 0 {
		said = append(said, "without "+strings.Join(r.NotExplored, " and "))
	}
	return strings.Join(said, ", ")
}

// cardRuns is the card's text about the visited executions.
func cardRuns(r *Report, s style.Style) []style.Line {
	runs := r.Runs
	if runs == nil {
		return nil
	}
	visited := []string{style.Plural(runs.Whole, "execution")}
	if runs.Blocked > 0 {
		visited = append(visited, style.Grouped(runs.Blocked)+" more ended early: all that they could come to had been visited")
	}
	if left := runs.Whole - runs.Audited; runs.Audited > 0 && left > 0 {
		visited = append(visited, style.Grouped(left)+" came to what another had come to, whose audit is theirs as well")
	}
	out := labelled("visited", strings.Fields(strings.Join(visited, "; ")), style.Plain, s)
	if len(runs.NotExplored) > 0 {
		out = append(out, labelled("not explored", strings.Fields(style.Printable(strings.Join(runs.NotExplored, " · "))), style.Yellow, s)...)
	}
	if runs.Incomplete != "" {
		out = append(out, labelled("not everything", strings.Fields(runs.Incomplete+", so that nothing is proved"), style.Yellow, s)...)
	}
	return out
}
