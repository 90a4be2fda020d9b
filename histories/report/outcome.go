package report

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// Outcome is the result of a whole run.
type Outcome string

// The outcomes.
const (
	OutcomeHolds        Outcome = "holds"        // the judged properties hold, and all required ones were judged
	OutcomeViolated     Outcome = "violated"     // a property is violated, or suspected to be
	OutcomeInterrupted  Outcome = "interrupted"  // the run ended before it was complete
	OutcomeKnown        Outcome = "known"        // all violations are known and have not expired
	OutcomeInconclusive Outcome = "inconclusive" // nothing was judged, or an answer is missing: see [Report.Missing]
)

// Outcome is the result of the run. An unknown violation takes precedence over an interruption, and that over missing
// answers.
func (r *Report) Outcome() Outcome {
	accepted := false
	for i := range r.Properties {
		if v := r.Properties[i].Violation; v != nil && !v.Accepted() {
			return OutcomeViolated
		} else if v != nil {
			accepted = true
		}
	}
	switch {
	case r.Interrupted:
		return OutcomeInterrupted
	case len(r.Missing()) > 0:
		return OutcomeInconclusive
	case accepted:
		return OutcomeKnown
	}
	return OutcomeHolds
}

// Judged reports whether any property was judged.
func (r *Report) Judged() bool {
	return slices.ContainsFunc(r.Properties, func(p PropertyResult) bool {
		verdict, _ := r.Verdict(&p)
		return verdict != Skipped
	})
}

// Owes reports whether a property lacks an answer: it is undecided, or required but skipped.
func (r *Report) Owes(p *PropertyResult) bool {
	verdict, _ := r.Verdict(p)
	return verdict == Undecided || verdict == Skipped && r.Required.Has(p.Property)
}

// Missing are the missing answers of a run without violations, one in each line: nothing was judged, fewer executions
// were run than required, or a property is undecided, or required but not judged.
func (r *Report) Missing() (lines []string) {
	if !r.Judged() {
		lines = append(lines, r.nothing())
	}
	if r.Scenarios < r.Least {
		lines = append(lines, fmt.Sprintf("%s: at least %s were to be", style.Plural(r.Scenarios, "execution")+" run", style.Grouped(r.Least)))
	}
	required := r.Required
	for i := range r.Properties {
		p := &r.Properties[i]
		required &^= property.Set(0).With(p.Property)
		if r.Owes(p) {
			lines = append(lines, r.missing(p))
		}
	}
	for p := range property.Count {
		if required.Has(p) {
			lines = append(lines, r.missing(&PropertyResult{Property: p, Skip: "it was left out"}))
		}
	}
	return lines
}

// nothing says that nothing was judged, and the reason if known.
func (r *Report) nothing() string {
	if r.Mode == Recorded && r.Operations == 0 {
		return "nothing was judged: the history has no operations"
	}
	return "nothing was judged: every property was skipped"
}

// missing describes a missing answer.
func (r *Report) missing(p *PropertyResult) string {
	verdict, reason := r.Verdict(p)
	if verdict == Undecided {
		return fmt.Sprintf("%s is undecided: %s", p.Name(), reason)
	}
	return fmt.Sprintf("%s is required and was skipped: %s", p.Name(), reason)
}

// cardMissing is the end of the card for an inconclusive run, for a run whose violations are all known, and for known
// findings that were not seen.
func cardMissing(r *Report, s style.Style) []style.Line {
	said := r.unseen()
	switch r.Outcome() {
	case OutcomeKnown:
		return warnings(append(said, "nothing new is violated: all that is, "+known.FileName+" knows"), s)
	case OutcomeInconclusive:
	default:
		return warnings(said, s)
	}
	for _, missing := range r.Missing() {
		said = append(said, "inconclusive: "+missing)
	}
	return warnings(said, s)
}

// Held reports whether the property with that name was judged without a violation.
func (r *Report) Held(name string) bool {
	return slices.ContainsFunc(r.Properties, func(p PropertyResult) bool {
		verdict, _ := r.Verdict(&p)
		return p.Name() == name && slices.Contains([]Verdict{Passed, Proved, Kept}, verdict)
	})
}

// unseen lists known findings that were not seen, one in each line.
func (r *Report) unseen() (lines []string) {
	for _, f := range r.Unseen {
		until := "stays accepted"
		if f.Expires != "" {
			until += " until " + f.Expires + " is over"
		}
		lines = append(lines, fmt.Sprintf("%s of %s, fingerprint %s, was not seen and %s: delete it if it is mended", f.Property, known.FileName, f.Fingerprint, until))
	}
	return lines
}
