package engine

import (
	"io"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/nearest"
)

// WritePage writes one self-contained HTML page with the report, and with every violating execution and its cause.
func (r *Result) WritePage(w io.Writer) error { return report.WritePage(w, r.Page()) }

// Page returns the content of the page that WritePage writes.
func (r *Result) Page() *report.Page {
	page := report.Page{Report: r.Report, Explorer: r.Explorer}
	files := make(map[property.Property]string)
	for _, ce := range r.Counterexamples(r.Report.Command) {
		files[ce.Property] = explorable(ce)
	}
	for i := range r.Report.Properties {
		p := &r.Report.Properties[i]
		if t := r.Traces[p.Property]; t != nil {
			x := r.execution(p, t)
			x.File = files[p.Property]
			page.Executions = append(page.Executions, x)
		}
	}
	if r.History != nil {
		for lock := range r.History.Locks {
			if prefix := linear.LongestPrefix(r.History, lock, r.Reading, explaining); prefix != nil {
				page.Histories = append(page.Histories, report.History{History: r.History, Lock: lock, Prefix: prefix})
			}
		}
	}
	return &page
}

// explorable returns the text of a counterexample file if the explorer can run it: its target is a lock of this module.
// Otherwise it returns "".
func explorable(ce *histories.Counterexample) string {
	if _, err := TargetNamed(ce.Scenario.Target); err != nil || ce.Exec != "" {
		return ""
	}
	data, err := ce.Encode()
	if err != nil {
		return ""
	}
	return string(data)
}

// execution prepares an execution that violates a property for the page.
func (r *Result) execution(p *report.PropertyResult, t *scenario.Trace) report.Execution {
	x := execution(r.targetOf(t), t, p.Property, r.Labels.FailedAcquire)
	x.Command, x.Again = p.Violation.Command, p.Violation.Reproduced()
	return x
}

// targetOf returns the target of an execution if it is a lock of this module; otherwise nil.
func (r *Result) targetOf(t *scenario.Trace) *lock.Target {
	if r.Labels.Exec != "" {
		return nil
	}
	target, err := TargetNamed(t.Scenario.Target)
	if err != nil {
		return nil
	}
	return target
}

// WritePage writes one self-contained HTML page with the replayed execution and its cause.
func (r *Replayed) WritePage(w io.Writer) error { return report.WritePage(w, r.Page()) }

// Page returns the content of the page that WritePage writes.
func (r *Replayed) Page() *report.Page {
	p := property.Property(0)
	if r.Violation != nil {
		p = r.Violation.Property
	}
	x := execution(r.Target, r.Trace, p, r.FailedAcquire)
	x.File = r.File
	return &report.Page{
		Title: r.Trace.Scenario.Target, Text: r.Said, Executions: []report.Execution{x},
		Made: report.Made{Tool: Version, At: r.At, Command: r.Command, Options: changed(&r.Trace.Scenario), Server: r.Server},
	}
}

// simulates reports whether the simulated server repeats an execution with exactly the same violation.
func simulates(target *lock.Target, t *scenario.Trace, v scenario.Violation, failedAcquire property.FailedAcquire) bool {
	var r sim.Runner
	s := sim.Replay(t)
	again, ok := r.Trace(target, &s, failedAcquire).Violation(v.Property)
	return ok && again == v
}

// changed returns the options of a scenario that differ from the defaults, as name=value.
func changed(s *scenario.Scenario) (options []string) {
	for _, o := range s.Changed() {
		options = append(options, o[0]+"="+o[1])
	}
	return options
}

// explaining is the maximum time that porcupine may take to explain one history.
const explaining = 5 * time.Second

// execution prepares a trace for a page. If target is not nil, it also searches for the nearest execution without
// violations.
func execution(target *lock.Target, t *scenario.Trace, p property.Property, failedAcquire property.FailedAcquire) report.Execution {
	x := report.Execution{Trace: t}
	for _, v := range t.Violations {
		if v.Property == property.Linearizable && x.Prefix == nil {
			x.Prefix = linear.LongestPrefix(&t.History, int(v.Lock), linear.Options{FailedAcquire: failedAcquire}, explaining)
		}
	}
	v, violated := t.Violation(p)
	if target == nil || !violated || !simulates(target, t, v, failedAcquire) {
		return x
	}
	x.Sought = true
	if well := nearest.Find(target, t, v.Step, failedAcquire); well != nil {
		x.Well, x.Parts = well.Trace, well.Parts
	}
	return x
}
