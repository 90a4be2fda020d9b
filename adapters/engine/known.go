package engine

import (
	"cmp"
	"time"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Accept marks the violations that are known findings, and sets the fingerprint of each violation that has an
// execution.
func (r *Result) Accept(findings known.Findings, now time.Time) {
	for _, ce := range r.Counterexamples("") {
		v := r.Report.Result(ce.Property).Violation
		v.Fingerprint = cmp.Or(v.Fingerprint, ce.Fingerprint())
		if f := findings.Of(ce.Violation.Name(), v.Fingerprint); f != nil {
			v.Known = &report.Known{Finding: *f, Expired: f.Expired(now)}
		}
	}
	for _, f := range findings {
		if !f.Expired(now) && r.Report.Held(f.Property) {
			r.Report.Unseen = append(r.Report.Unseen, f)
		}
	}
}

// Knows reports whether findings contain the violation of property p in the execution t.
func (l *Labels) Knows(findings known.Findings, p property.Property, t *scenario.Trace) bool {
	if len(findings) == 0 {
		return false
	}
	ce := l.Counterexample(p, t, &report.Found{})
	return findings.Of(ce.Violation.Name(), ce.Fingerprint()) != nil
}

// KnownOf returns the judged properties for which findings contain a violation.
func KnownOf(findings known.Findings, judged property.Set, list own.List) (set property.Set) {
	for p := range judged.All() {
		if findings.Names(cmp.Or(list.Name(p), p.String())) {
			set = set.With(p)
		}
	}
	return set
}
