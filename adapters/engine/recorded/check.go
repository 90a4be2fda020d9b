package recorded

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
)

// CheckOptions say what a recorded history is judged by.
type CheckOptions struct {
	FailedAcquire property.FailedAcquire
	// Source is the file that the history was read from, or what else it is of.
	Source string
	// Permits is how many there are of a lock whose history names no slots; 0 is the number of slots
	// that it begins with.
	Permits int
	// Properties are those to judge; empty is all that apply.
	Properties property.Set
	// Own are users' own properties. A history alone does not show what they look at: they are skipped.
	Own own.List
	// Releases is who may release a lock, and FailedRelease what a release that failed says of who called it.
	Releases      linear.Releases
	FailedRelease linear.FailedRelease
}

// Check judges a recorded history: linearizability, and the other properties as far as a history
// alone can show them broken. The error is for a history that is none.
func Check(h *history.History, o CheckOptions) (*report.Report, error) {
	verdicts, err := judge.History(h, o.Reading())
	if err != nil {
		return nil, err
	}
	return o.report(h, verdicts), nil
}

// wholeEvents is how many events a history may have that is judged whole, in memory. A longer one is judged as it is read.
const wholeEvents = 1 << 20

// CheckRecording is [Check] of a history of any length.
func CheckRecording(rec *histories.Recording, o CheckOptions) (*report.Report, error) {
	var verdicts []linear.Verdict
	h, err := rec.Whole(wholeEvents)
	switch {
	case err != nil:
	case h != nil:
		verdicts, err = judge.History(h, o.Reading())
	default:
		h = rec.History()
		verdicts, err = judge.Read(h, rec.Each, o.Reading())
	}
	if malformed := (*linear.Malformed)(nil); errors.As(err, &malformed) {
		return nil, fmt.Errorf("%s: %w", o.Source, err) // other errors say where
	} else if err != nil {
		return nil, err
	}
	return o.report(h, verdicts), nil
}

// report is that of a history.
func (o *CheckOptions) report(h *history.History, verdicts []linear.Verdict) *report.Report {
	r := &report.Report{
		Tool: engine.Version, Target: h.Kind.String(), Kind: h.Kind, Mode: report.Recorded, Source: o.Source,
		FailedAcquire: o.FailedAcquire.String(), Scenarios: 1,
	}
	judged, applicable := make(map[property.Property]linear.Verdict), property.Applicable(h.Kind)
	for _, v := range verdicts {
		judged[v.Property] = v
		applicable = applicable.With(v.Property)
	}
	r.Operations = judged[property.Linearizable].Checked
	silence := judged[property.Linearizable].Unjudged
	asked := o.Properties
	if property.Applicable(h.Kind)&^asked == 0 { // and what the history has to judge beside that
		asked = 0
	}
	asked = engine.JudgedOf(applicable, asked)
	for p := range property.Count {
		if asked.Has(p) {
			v, ok := judged[p]
			if ok && v.Unjudged == "" && v.Checked == 0 {
				v.Unjudged = silence
			}
			res := fromHistory(p, v, ok)
			res.Note = o.note(p)
			r.Properties = append(r.Properties, res)
		}
	}
	for i, p := range o.Own {
		r.Properties = append(r.Properties, report.PropertyResult{Property: own.ID(i), Own: p, Evidence: property.FromTruth, Skip: notShown})
	}
	return r
}

// Reading is how a history is read.
func (o *CheckOptions) Reading() linear.Options {
	return linear.Options{FailedAcquire: o.FailedAcquire, Permits: o.Permits, Releases: o.Releases, FailedRelease: o.FailedRelease}
}

// note is the reading that a property was judged by.
func (o *CheckOptions) note(p property.Property) string {
	switch p {
	case property.Linearizable:
		return fmt.Sprintf("%s; releases by others: %s", o.FailedAcquire.Note(), o.Releases)
	case property.MutualExclusion:
		return fmt.Sprintf("releases by others: %s; a failed release %s a belief", o.Releases, o.FailedRelease)
	}
	return ""
}

// notShown is why a property is skipped that takes what the broker had, or what was sent.
const notShown = "not shown by a history alone: judged on the simulated broker"

// fromHistory is what a history says of a property.
func fromHistory(p property.Property, v linear.Verdict, judged bool) report.PropertyResult {
	r := report.PropertyResult{Property: p, Evidence: property.FromHistory, Checked: v.Checked, Scenarios: 1}
	switch {
	case !judged:
		r.Skip = notShown
	case v.Unjudged != "":
		r.Checked, r.Skip = 0, v.Unjudged
	case v.Decision == linear.Undecided:
		r.Checked, r.Undecided, r.Unclear = 0, 1, v.Why
	case v.Decision == linear.Illegal:
		r.Violation = &report.Found{Detail: v.Why}
	}
	return r
}
