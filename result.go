package lockproof

import (
	"io"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/property"
)

// Result is the result of a run.
type Result struct {
	Target, Server                           string
	Judgements                               []Judgement // one for each property, in the order of the report
	Executions, States, Commands, Operations int         // how many of each were run or visited
	Elapsed                                  time.Duration
	engine                                   *engine.Result
	page                                     func(io.Writer) error
	diagram                                  string // the execution that Replay repeated, drawn; "" otherwise
}

// Judgement is the verdict on one property.
type Judgement struct {
	Property       Property
	Verdict        Verdict
	Reason         string          // why the property is Skipped or Undecided
	Evidence       string          // what the verdict is based on: "history", "the broker's truth" or "commands"
	Checked        int             // number of times that the property was tested
	Counterexample *Counterexample // nil unless Violated or Suspected
}

// Verdict is the outcome of judging one property.
type Verdict string

const (
	Proved    Verdict = "proved"    // the property holds in every execution within the bounds
	Passed    Verdict = "passed"    // no execution that was run violates it
	Violated  Verdict = "violated"  // fresh clients reproduce the violation
	Suspected Verdict = "suspected" // seen violated once, but fresh clients do not reproduce it
	Undecided Verdict = "undecided" // judged, but without an answer within the bounds
	Skipped   Verdict = "skipped"   // not judged
)

// Judgement returns the judgement of a property; it is Skipped if the run did not judge it.
func (r *Result) Judgement(p Property) Judgement {
	if i := r.index(p); i >= 0 {
		return r.Judgements[i]
	}
	return Judgement{Property: p, Verdict: Skipped, Reason: "not asked for"}
}

// Err is nil if all properties hold, else ErrViolated, ErrInterrupted or ErrInconclusive.
func (r *Result) Err() error {
	switch r.engine.Report.Outcome() {
	case report.OutcomeViolated:
		return ErrViolated
	case report.OutcomeInterrupted:
		return ErrInterrupted
	case report.OutcomeInconclusive:
		return ErrInconclusive
	}
	return nil
}

// index is the index in Judgements of a property's judgement, or -1.
func (r *Result) index(p Property) int {
	return slices.IndexFunc(r.Judgements, func(j Judgement) bool { return j.Property == p })
}

// Write writes the result as "card" (a summary), "json", "junit" or "html".
func (r *Result) Write(w io.Writer, format string) error {
	switch format {
	case "card":
		return report.WriteCard(w, r.engine.Report, style.Style{})
	case "json":
		return report.WriteJSON(w, r.engine.Report)
	case "junit":
		return report.WriteJUnit(w, r.engine.Report)
	case "html":
		return r.page(w)
	}
	return invalid("format %q: expected card, json, junit or html", format)
}

// resultOf converts the result of a run to this package's types.
func resultOf(res *engine.Result, t Target) *Result {
	r := res.Report
	out := &Result{
		Target: r.Target, Server: r.Broker, Elapsed: r.Elapsed,
		Executions: r.Scenarios, Commands: r.Commands, Operations: r.Operations, engine: res, page: res.WritePage,
	}
	switch {
	case r.Space != nil:
		out.States = r.Space.States
	case r.Views != nil:
		out.States = r.Views.Views
	}
	files := make(map[property.Property]*histories.Counterexample)
	for _, ce := range res.Counterexamples("") {
		files[ce.Property] = ce
	}
	for i := range r.Properties {
		p := &r.Properties[i]
		verdict, why := r.Verdict(p)
		j := Judgement{
			Property: Property(p.Name()), Verdict: Verdict(verdict), Reason: why, Evidence: p.Evidence.String(), Checked: p.Checked,
		}
		if p.Violation != nil {
			j.Counterexample = foundBy(t, p, files[p.Property])
		}
		out.Judgements = append(out.Judgements, j)
	}
	return out
}
