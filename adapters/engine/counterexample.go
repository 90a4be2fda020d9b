package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Counterexamples are the violations that a result has traces of, in the order of the card, ready to
// be written. command is what was typed to find them.
func (r *Result) Counterexamples(command string) []*histories.Counterexample {
	var out []*histories.Counterexample
	for i := range r.Report.Properties {
		p := &r.Report.Properties[i]
		if t := r.Traces[p.Property]; t != nil && p.Violation != nil {
			l := &r.Labels
			if other, ok := r.Others[p.Property]; ok {
				l = &other
			}
			ce := l.Counterexample(p.Property, t, p.Violation)
			ce.Origin.Command = command
			out = append(out, ce)
		}
	}
	return out
}

// Labels are what all counterexamples of a run say.
type Labels struct {
	FailedAcquire property.FailedAcquire // what a failed acquire was taken to promise
	Origin        histories.Origin       // of no execution in particular
	// An external program has a command, the type of its lock, options, and the declaration of what holds the lock.
	Exec    string
	Kind    lock.Kind
	Options map[string]string
	Holding string
	// Servers is how many servers stand behind the gate.
	Servers int
}

// Counterexample is an execution that violates a property, as it is written.
func (l *Labels) Counterexample(p property.Property, t *scenario.Trace, found *report.Found) *histories.Counterexample {
	ce := &histories.Counterexample{
		Exec: l.Exec, Kind: l.Kind, ExecOptions: l.Options, Holding: l.Holding, Servers: l.Servers, Tool: Version, Property: p, FailedAcquire: l.FailedAcquire,
		Scenario: sim.Replay(t), Transcript: draw.Transcript(t), Suspected: found.Suspected, Tries: found.Tries,
		Origin: l.Origin,
	}
	ce.Origin.Scenario = found.Scenario
	ce.Violation, _ = t.Violation(p)
	ce.Violation.Detail = ce.Violation.Explain()
	if _, err := TargetNamed(t.Scenario.Target); err != nil || l.Exec != "" {
		ce.Shown = histories.Shown{Cause: draw.Cause(t, ce.Violation), Expected: draw.Expected(t, ce.Violation), Line: ce.Violation.Step + 1, Diagram: strings.Split(Drawing(t), "\n")}
	}
	ofAudit(&ce.Violation, &ce.Scenario)
	return ce
}

// ofAudit has the violation of an audit refer to what a counterexample has: clients that audit are not in its scenario, and the
// audit comes when all is over.
func ofAudit(v *scenario.Violation, sc *scenario.Scenario) {
	v.Step = min(v.Step, len(sc.Schedule.Actions))
	for _, c := range []*uint8{&v.Client, &v.Other} {
		if int(*c) > len(sc.Clients) {
			*c = 0
		}
	}
}

// FoundIn is a report's description of a violation in a trace.
func FoundIn(t *scenario.Trace, p property.Property) *report.Found {
	v, _ := t.Violation(p)
	found := &report.Found{Steps: t.Shown(), Detail: v.Explain(), Expected: draw.Expected(t, v), Errors: draw.Errors(t), Diagram: Drawing(t)}
	if cause := draw.Cause(t, v); strings.TrimSuffix(cause, ".") != strings.TrimSuffix(style.Printable(found.Detail), ".") {
		found.Cause = cause
	}
	return found
}

// Replayed is a counterexample carried out again on the simulated broker.
type Replayed struct {
	Target *lock.Target
	Own    own.List
	Trace  *scenario.Trace
	// Violation is what the counterexample is kept for, as it was seen this time; nil if it was not.
	Violation *scenario.Violation
	// Tries is how often that was, of how many times it was tried, where clients are somebody else's.
	Tries histories.Tries
	// Command repeats the replay and Said is its result, in lines, for the page; may be empty.
	Command, Said string
	// FailedAcquire is what a failed acquire was taken to promise, Server what it was carried out on, and At when, for the page.
	FailedAcquire property.FailedAcquire
	Server        string
	At            time.Time
	// File is the counterexample, where the explorer can carry it out.
	File string
}

// On repeats the replayed execution on a real broker. If the broker behaves differently, Violation says so: it is nil
// unless the broker shows the violation, too.
func (r *Replayed) On(ctx context.Context, b *rabbitmq.Broker) error {
	real, err := rabbitmq.Replay(ctx, b, r.Target, r.Trace, rabbitmq.ReplayOptions{})
	if err != nil {
		return err
	}
	if real.Skipped != "" {
		return fmt.Errorf("replaying on %s: skipped: %s", b, real.Skipped)
	}
	if r.Violation != nil && !real.Reproduces(*r.Violation) {
		r.Violation = nil
	}
	return nil
}

// Report is the replay of a counterexample on a broker as a report of the one property that it is kept for.
func (r *Replayed) Report(ce *histories.Counterexample, broker string) *report.Report {
	p := report.PropertyResult{
		Property: ce.Property, Own: r.Own.Of(ce.Property), Evidence: ce.Property.Evidence(), Checked: max(1, r.Tries.Of), Scenarios: max(1, r.Tries.Of),
	}
	if r.Violation != nil {
		p.Violation = FoundIn(r.Trace, ce.Property)
		p.Violation.Tries = r.Tries
	}
	return &report.Report{
		Tool: Version, Target: ce.Scenario.Target, Kind: r.Trace.History.Kind, Mode: report.Replayed, Broker: broker, Server: ce.Scenario.Server,
		FailedAcquire: ce.FailedAcquire.String(), Scenarios: max(1, r.Tries.Of), Steps: len(r.Trace.Steps), Properties: []report.PropertyResult{p},
	}
}

// Replay carries out a counterexample on the simulated broker, of the target that it names.
func Replay(ce *histories.Counterexample) (*Replayed, error) {
	if ce.Property.Own() {
		return nil, UnknownOwn(ce)
	}
	target, err := TargetNamed(ce.Scenario.Target)
	if err != nil {
		return nil, fmt.Errorf("counterexample: %w", err)
	}
	return ReplayOf(target, nil, ce), nil
}

// UnknownOwn is the error of a counterexample of a user's own property where there are none.
func UnknownOwn(ce *histories.Counterexample) error {
	return fmt.Errorf("counterexample of %s: that is a property of a user's own, which only a program has: "+
		"lockproof.Replay judges it, with the property among Options.Own", ce.Violation.Own)
}

// ReplayOf carries out a counterexample on the simulated broker, of a target whose name may be known to nobody else.
// list has the user's own property that it violates, if it does.
func ReplayOf(target *lock.Target, list own.List, ce *histories.Counterexample) *Replayed {
	r := sim.NewRunner(list)
	t := &Replayed{Target: target, Own: list, FailedAcquire: ce.FailedAcquire, Server: SimulatedOf(target), File: explorable(ce), Trace: r.Trace(target, &ce.Scenario, ce.FailedAcquire)}
	if v, ok := t.Trace.Violation(ce.Property); ok {
		t.Violation = &v
	}
	return t
}

// NewExecution is an empty execution of a target as the file of a counterexample, for the explorer to continue. It
// ignores the scenario's target, faults and schedule.
func NewExecution(target *lock.Target, s scenario.Scenario) (string, error) {
	s.Target, s.Faults, s.Schedule = target.Name, nil, scenario.Schedule{Strategy: scenario.Replay}
	s.Options = target.Settled(s.Options)
	ce := &histories.Counterexample{Tool: Version, Property: property.MutualExclusion, Scenario: s}
	ce.Violation.Property, ce.Violation.Detail = ce.Property, "it is not violated"
	data, err := ce.Encode()
	return string(data), err
}
