package report

import (
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Runs is what a run has visited by carrying out executions one by one.
type Runs struct {
	Whole   int // complete executions
	Blocked int // executions that ended early, since all their continuations had been visited
	// Audited is the number of complete executions that were audited. The others ended in the same state as one of
	// these.
	Audited int
	// Incomplete says why not every execution, or an equivalent one, was visited; "" if all were.
	Incomplete string
	// Preemptions bounds the number of switches away from a client that could continue; nil is unbounded. With a
	// bound nothing is proved: verdicts concern only these orders.
	Preemptions *int
	// NotExplored are operations and faults that the target's clients support, but that no visited execution has: the
	// verdicts do not cover them.
	NotExplored []string
}

// bounded says which executions a positive verdict covers; "" if it covers all.
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

// cardRuns is the text of the card about the visited executions.
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
		visited = append(visited, style.Grouped(left)+" were not audited, since an audited one had come to the same")
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
