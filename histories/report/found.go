package report

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
)

// Found is a violation as the report tells of it.
type Found struct {
	Detail   string   // what happened, in one line
	Cause    string   // how it came about, by the steps of the execution; "" where Detail says as much
	Expected string   // what a lock that is right does instead; "" is not known
	Steps    int      // the execution's length: the counterexample's, or that of what was recorded
	Least    bool     // no execution within the bounds that were visited violates the property in fewer steps
	Scenario int      // the execution that first showed it, counted from 1; 0 is not known
	Seed     uint64   // of that execution, where it is not the run's; 0 where it is
	File     string   // where the counterexample is; "" if it was not written
	Command  string   // what repeats it
	Errors   []string // what the target's clients said of calls that failed, as in the diagram
	Diagram  string   // the execution, drawn in plain text; for JUnit
	// Earlier says that the execution is one of an earlier run's, carried out again.
	Earlier bool
	// Suspected says that fresh clients did not show it again, or were not asked to: the execution is the one
	// recorded when it was seen.
	Suspected bool
	// Tries is how often fresh clients were asked; the zero value is not at all, as for targets that do the same
	// each time.
	Tries histories.Tries
	// Fingerprint is the counterexample's; "" where there is none.
	Fingerprint string
	// Compared is how many executions that violate the property were compared with what is known; 0 is this one.
	Compared int
	// Known is the finding of the project's file that it is; nil is a new one.
	Known *Known
}

// Known is a violation that a project knows of.
type Known struct {
	known.Finding
	// Expired says that it is a failure again.
	Expired bool
}

// Accepted reports whether the violation is known, and so no failure yet.
func (f *Found) Accepted() bool { return f.Known != nil && !f.Known.Expired }

// Words tell that it is known, and whether that is over.
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

// Reproduced is how often the violation was seen again, in words; "" where each try showed it.
func (f *Found) Reproduced() string {
	switch {
	case f.Suspected && f.Tries.Of == 0:
		return "not tried again on fresh clients"
	case f.Tries.Shown == f.Tries.Of:
		return ""
	}
	return fmt.Sprintf("reproduced in %d of %s on fresh clients", f.Tries.Shown, style.Plural(f.Tries.Of, "try"))
}

// Why says how the violation came about and what a right lock does, in lines.
func (f *Found) Why() (lines []string) {
	if f.Cause != "" {
		lines = append(lines, "why: "+f.Cause)
	}
	if f.Expected != "" {
		lines = append(lines, "expected: "+f.Expected)
	}
	return lines
}

// DrawnAt is the property before this one with the same execution, where it is drawn; "" where it is another.
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

// told is the event, the number of executions with it, and how often it was reproduced.
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

// known says that a violation is known. Other executions that violate the property may do so in another way.
func (r *Report) known(p *PropertyResult) string {
	words := p.Violation.Known.Words()
	if others := p.Violating - 1; others > 0 && p.Violation.Accepted() {
		words += "; in " + style.Plural(others, "other execution") + " the property is violated as well, maybe in another way: " + howMany(max(1, p.Violation.Compared)) + " compared with what is known"
	}
	return words
}

// howMany is how many executions were, in words.
func howMany(n int) string {
	if n == 1 {
		return "one was"
	}
	return fmt.Sprintf("%d were", n)
}

// often is in how many executions a property was seen violated, in words; "" where they were not counted.
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

// where is the execution and how it was come by, in words; "" where there is none.
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
