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

// Counterexamples returns the violations of the result that have traces, as counterexamples ready to be written, in the
// order of the report. command is the command line that found them.
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

// Labels are the data that all counterexamples of a run share.
type Labels struct {
	FailedAcquire property.FailedAcquire // what a failed acquire promises about the slots
	Origin        histories.Origin       // the run's seed, command and broker; Origin.Scenario is not set
	// Exec is the command of an external program. Kind is the type of its lock, and Options are its options. Holding is
	// the declaration of what holds the lock. A lock of this module leaves all of them empty.
	Exec    string
	Kind    lock.Kind
	Options map[string]string
	Holding string
	// Servers is the number of servers behind the gate; 0 means one.
	Servers int
}

// Counterexample returns the execution t, which violates property p, as a counterexample that can be written to a file.
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

// ofAudit adapts a violation that an audit found to a counterexample's scenario, which contains neither the auditing
// clients nor their steps. The number of an auditing client becomes 0. A step after the schedule becomes the schedule's
// end.
func ofAudit(v *scenario.Violation, sc *scenario.Scenario) {
	v.Step = min(v.Step, len(sc.Schedule.Actions))
	for _, c := range []*uint8{&v.Client, &v.Other} {
		if int(*c) > len(sc.Clients) {
			*c = 0
		}
	}
}

// FoundIn returns the violation of p in a trace as a report shows it, with its cause and a diagram.
func FoundIn(t *scenario.Trace, p property.Property) *report.Found {
	v, _ := t.Violation(p)
	found := &report.Found{Steps: t.Shown(), Detail: v.Explain(), Expected: draw.Expected(t, v), Errors: draw.Errors(t), Diagram: Drawing(t)}
	if cause := draw.Cause(t, v); strings.TrimSuffix(cause, ".") != strings.TrimSuffix(style.Printable(found.Detail), ".") {
		found.Cause = cause
	}
	return found
}

// Replayed is the result of repeating a counterexample.
type Replayed struct {
	Target *lock.Target
	Own    own.List
	Trace  *scenario.Trace
	// Violation is the violation of the counterexample's property in the replay; nil if the replay did not violate it.
	Violation *scenario.Violation
	// Tries counts the attempts with external clients, and those attempts that showed the violation.
	Tries histories.Tries
	// Command is the command line that repeats the replay. Said is the replay's result as lines of text. Both are for
	// the page and may be empty.
	Command, Said string
	// FailedAcquire says what a failed acquire promises. Server names the server of the replay. At is the time of the
	// replay, for the page.
	FailedAcquire property.FailedAcquire
	Server        string
	At            time.Time
	// File is the text of the counterexample file if the explorer can run it; otherwise "".
	File string
}

// On repeats the replayed execution on a real broker. It sets Violation to nil unless the real broker shows the
// violation as well.
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

// Report returns a report about a replay on a broker. It covers the property that the counterexample violates.
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

// Replay repeats a counterexample on the simulated broker. The target is the one that the counterexample names.
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

// UnknownOwn returns the error for a counterexample of a custom property that this program does not define.
func UnknownOwn(ce *histories.Counterexample) error {
	return fmt.Errorf("counterexample of %s: that is a property of a user's own, which only a program has: "+
		"lockproof.Replay judges it, with the property among Options.Own", ce.Violation.Own)
}

// ReplayOf repeats a counterexample on the simulated broker with the given target, which need not be registered. If the
// counterexample violates a custom property, list must contain that property.
func ReplayOf(target *lock.Target, list own.List, ce *histories.Counterexample) *Replayed {
	r := sim.NewRunner(list)
	t := &Replayed{Target: target, Own: list, FailedAcquire: ce.FailedAcquire, Server: SimulatedOf(target), File: explorable(ce), Trace: r.Trace(target, &ce.Scenario, ce.FailedAcquire)}
	if v, ok := t.Trace.Violation(ce.Property); ok {
		t.Violation = &v
	}
	return t
}

// NewExecution returns an execution without steps, in the form of a counterexample file, for the explorer to continue.
// It ignores the scenario's target, faults and schedule.
func NewExecution(target *lock.Target, s scenario.Scenario) (string, error) {
	s.Target, s.Faults, s.Schedule = target.Name, nil, scenario.Schedule{Strategy: scenario.Replay}
	s.Options = target.Settled(s.Options)
	ce := &histories.Counterexample{Tool: Version, Property: property.MutualExclusion, Scenario: s}
	ce.Violation.Property, ce.Violation.Detail = ce.Property, "it is not violated"
	data, err := ce.Encode()
	return string(data), err
}
