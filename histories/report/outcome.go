package report

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// Outcome is the overall result of a run.
type Outcome string

// The outcomes of a run.
const (
	OutcomeHolds        Outcome = "holds"        // the judged properties hold, and all required ones were judged
	OutcomeViolated     Outcome = "violated"     // a property is violated, or suspected to be
	OutcomeInterrupted  Outcome = "interrupted"  // the run ended before it was complete
	OutcomeKnown        Outcome = "known"        // all violations are known and have not expired
	OutcomeInconclusive Outcome = "inconclusive" // nothing was judged, or an answer is missing: see [Report.Missing]
)

// Outcome is the overall result of the run. A violation that is not accepted decides first, then an interruption, then
// missing answers.
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

// Owes reports whether the report lacks an answer on a property: it is undecided, or it is required and was skipped.
func (r *Report) Owes(p *PropertyResult) bool {
	verdict, _ := r.Verdict(p)
	return verdict == Undecided || verdict == Skipped && r.Required.Has(p.Property)
}

// Missing lists the missing answers of a run, one in each line. Examples are that nothing was judged, that too few
// executions were run, and that a required property was skipped.
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

// nothing is the line of Missing for a run that judged no property. It says why.
func (r *Report) nothing() string {
	if r.Mode == Recorded && r.Operations == 0 {
		return "nothing was judged: the history has no operations"
	}
	return "nothing was judged: every property was skipped"
}

// missing is the line of Missing for one property. It says whether the property is undecided or was skipped, and why.
func (r *Report) missing(p *PropertyResult) string {
	verdict, reason := r.Verdict(p)
	if verdict == Undecided {
		return fmt.Sprintf("%s is undecided: %s", p.Name(), reason)
	}
	return fmt.Sprintf("%s is required and was skipped: %s", p.Name(), reason)
}

// cardMissing is the end of the card. It says what is missing if the run is inconclusive, that all violations are
// known, and which known findings were not seen.
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

// unseen lists the known findings that this run did not see, one in each line.
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
