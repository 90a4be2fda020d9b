package report

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
)

// Found is a violation as a report shows it.
type Found struct {
	Detail   string   // what happened, in one line
	Cause    string   // cause in the steps of the execution; "" if Detail says it
	Expected string   // what a correct lock does instead; "" if unknown
	Steps    int      // number of steps of the counterexample, or of the recording
	Least    bool     // no execution within the visited bounds violates the property in fewer steps
	Scenario int      // number of the first execution that showed the violation, from 1; 0 if unknown
	Seed     uint64   // seed of execution number Scenario, if it differs from the run's; else 0
	File     string   // path of the counterexample; "" if it was not written
	Command  string   // command that repeats the execution
	Errors   []string // the clients' messages for failed calls, as in the diagram
	Diagram  string   // the execution as plain text, for JUnit
	// Earlier says that the execution is the replay of a counterexample from an earlier run.
	Earlier bool
	// Suspected says that the violation was not reproduced with fresh clients, or that this was not tried. The
	// execution is then the one recorded when the violation was seen.
	Suspected bool
	// Tries counts the attempts to reproduce the violation with fresh clients. It is zero if there were none, as for
	// deterministic targets.
	Tries histories.Tries
	// Fingerprint identifies the counterexample; "" if there is none.
	Fingerprint string
	// Compared is the number of executions with this violation that were compared with the known findings. 0 means that
	// only this one was.
	Compared int
	// Known is the finding in the project's file that matches the violation; nil if the violation is new.
	Known *Known
}

// Known is a violation that a project's file lists as known.
type Known struct {
	known.Finding
	// Expired says that the last day is over, so that the violation counts as a failure again.
	Expired bool
}

// Accepted reports whether the violation is known and has not expired. It is then no failure.
func (f *Found) Accepted() bool { return f.Known != nil && !f.Known.Expired }

// Words says that the violation is known, why it is accepted, and whether it has expired.
func (k *Known) Words() string {
	words := "known, and no failure"
	switch {
	case k.Expired:
		words = "was known until " + k.Expires + ", which is over: it is a failure again"
	case k.Expires != "":
		words += " until " + k.Expires + " is over"
	}
	words += ": " + k.Reason
	if k.Owner != "" {
		words += " (owner: " + k.Owner + ")"
	}
	return words
}

func (f *Found) verdict() Verdict {
	if f.Suspected {
		return Suspected
	}
	return Violated
}

// Reproduced says how often the violation was reproduced; "" if every attempt reproduced it.
func (f *Found) Reproduced() string {
	switch {
	case f.Suspected && f.Tries.Of == 0:
		return "not tried again on fresh clients"
	case f.Tries.Shown == f.Tries.Of:
		return ""
	}
	return fmt.Sprintf("reproduced in %d of %s on fresh clients", f.Tries.Shown, style.Plural(f.Tries.Of, "try"))
}

// Why explains, in lines, how the violation came about and what a correct lock would have done.
func (f *Found) Why() (lines []string) {
	if f.Cause != "" {
		lines = append(lines, "why: "+f.Cause)
	}
	if f.Expected != "" {
		lines = append(lines, "expected: "+f.Expected)
	}
	return lines
}

// DrawnAt names an earlier property in the report with the same drawn execution; "" if there is none.
func (r *Report) DrawnAt(p *PropertyResult) string {
	for i := range r.Properties {
		before := &r.Properties[i]
		switch {
		case before == p:
			return ""
		case before.Violation != nil && before.Violation.Diagram != "" && before.Violation.Diagram == p.Violation.Diagram:
			return before.Name()
		}
	}
	return ""
}

// told describes the violation: the event, the number of executions with it, how often it was reproduced, and whether
// it is known.
func (r *Report) told(p *PropertyResult) string {
	f := p.Violation
	told := f.Detail
	if asides := nonempty([]string{r.often(p), f.Reproduced()}); len(asides) > 0 {
		told += " (" + strings.Join(asides, "; ") + ")"
	}
	if f.Known != nil {
		told += "; " + r.known(p)
	}
	return told
}

// known says that the violation is known. If other executions violate the property too, it says so, since they may do
// it in another way.
func (r *Report) known(p *PropertyResult) string {
	words := p.Violation.Known.Words()
	if others := p.Violating - 1; others > 0 && p.Violation.Accepted() {
		words += "; in " + style.Plural(others, "other execution") + " the property is violated as well, maybe in another way: " + howMany(max(1, p.Violation.Compared)) + " compared with what is known"
	}
	return words
}

// howMany writes a number of executions with its verb: "one was", "3 were".
func howMany(n int) string {
	if n == 1 {
		return "one was"
	}
	return fmt.Sprintf("%d were", n)
}

// often says in how many executions the property was violated; "" if they were not counted.
func (r *Report) often(p *PropertyResult) string {
	if p.Violating == 0 {
		return ""
	}
	seen := "violated"
	if p.Violation.Suspected {
		seen = "seen"
	}
	return fmt.Sprintf("%s in %s of %s", seen, style.Grouped(p.Violating), style.Plural(r.Scenarios, "execution"))
}

// where describes the execution that shows the violation: its number of steps, and the execution and seed in which the
// violation was first seen.
func (r *Report) where(p *PropertyResult) string {
	f := p.Violation
	if f.Steps == 0 {
		return r.often(p)
	}
	out := "counterexample of " + style.Plural(f.Steps, "step")
	if f.Suspected {
		out = "recorded execution of " + style.Plural(f.Steps, "step")
	}
	if f.Earlier {
		out += ", of an earlier run, violated again"
	}
	if f.Least {
		out += ", and none has fewer"
	}
	if f.Scenario > 0 {
		out += ", first seen in execution " + style.Grouped(f.Scenario)
	}
	if f.Seed > 0 {
		out += fmt.Sprintf(" of seed %d", f.Seed)
	}
	return strings.Join(nonempty([]string{r.often(p), out, f.Reproduced()}), "; ")
}
