package report

import (
	"strings"

	"github.com/lockproof/lockproof/histories/style"
)

// Runs is the result of a run that visited executions by carrying out each of them from its beginning.
type Runs struct {
	Whole   int // number of complete executions
	Blocked int // number of executions cut short, since every continuation had been visited
	// Audited is the number of complete executions whose final state was audited. Each of the others ended in the same
	// state as an audited one.
	Audited int
	// Incomplete says why not every execution, or an equivalent one, was visited; "" if all were.
	Incomplete string
	// Preemptions is the largest number of times that the schedule may leave a client that could continue; nil means
	// any number. With a bound, verdicts concern only these schedules, and nothing is proved.
	Preemptions *int
	// NotExplored are the operations and faults that the target's clients support, but that no visited execution has.
	// Verdicts do not cover them.
	NotExplored []string
}

// bounded says to which executions a passed or proved verdict is limited; "" if it is not.
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

// cardRuns is the part of the card about the executions that were visited.
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
