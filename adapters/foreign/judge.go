package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// Nameless is why a property is skipped that takes what the broker has of a lock.
const Nameless = "queue names do not follow the guidelines' naming"

// fromCommands are the properties that can be judged whatever queues are called.
var fromCommands = spec.PropertySet(0).With(spec.CheapAcquire).With(spec.CheapVerify).With(spec.MinimalDriver)

// Measured are those that are judged where commands are told apart that were written in one go.
const Measured = spec.PropertySet(1<<spec.CheapAcquire | 1<<spec.CheapVerify)

// fromHistory are those of which the history says something.
var fromHistory = spec.PropertySet(0).With(spec.Linearizable).With(spec.MutualExclusion).With(spec.StaleBeliefEnds).With(spec.Progress)

// Judgeable are the properties that can be judged of the target.
func (s *Stage) Judgeable() spec.PropertySet {
	all := spec.Applicable(s.config.Kind)
	if !s.naming.known {
		all &= fromCommands | fromHistory
	}
	return all
}

// judgeable are those that the monitor can be believed in.
func (r *run) judgeable() spec.PropertySet {
	all := spec.Applicable(r.config.Kind)
	if !r.known() {
		all &= fromCommands
	}
	if r.burst == 0 {
		all &^= Measured
	}
	return all
}

// guessless takes back what was concluded from what the broker was thought to have.
func (r *run) guessless() {
	for i := range r.record.events {
		if e := &r.record.events[i]; e.Reason == lock.GaveUp {
			e.Reason = lock.NoReason
		}
	}
}

// known reports whether what the broker has of the lock is known, and was all the time.
func (r *run) known() bool { return r.naming.known && r.disagreement == "" }

// execution is what the run came to.
func (r *run) execution() *Execution {
	r.found(len(r.record.steps))
	if r.disagreement != "" {
		r.unruled.Disagreed++
		r.guessless()
		r.record.violations = slices.DeleteFunc(r.record.violations, func(v scenario.Violation) bool { return !r.judgeable().Has(v.Property) })
	}
	x := &Execution{
		Trace: &scenario.Trace{
			Scenario: *r.sc, Names: r.book.names, Setup: r.record.setup, Steps: r.record.steps, Violations: r.record.violations,
			History: spec.History{Kind: r.config.Kind, Events: r.record.events},
		},
		Found: r.monitor.Found & r.judgeable(), Exercised: r.monitor.Exercised & r.judgeable(),
		Uncontrolled: r.unruled, Disagreement: r.disagreement,
	}
	for _, l := range r.sc.Locks {
		x.History.Locks = append(x.History.Locks, l.Name)
		x.History.Slots = append(x.History.Slots, int(l.Slots))
	}
	for i := range r.players {
		x.Sent += int(r.players[i].sent)
		x.Called += r.players[i].called
	}
	if r.known() {
		x.Overlap, x.Overlaps = r.monitor.Overlap, r.monitor.Overlaps
	}
	r.judge(x)
	return x
}

// judge completes the verdict by what only the whole history shows.
func (r *run) judge(x *Execution) {
	o := spec.LinearizableOptions{Strength: r.config.Strength}
	switch m := &r.monitor; {
	case x.Called == 0:
	case !r.known():
		for _, v := range spec.CheckHistory(&x.History, o) {
			r.verdict(x, v)
		}
	case m.Strict || m.Witnessed && o.Strength == spec.Scan: // the execution is its own witness
		r.verdict(x, spec.HistoryVerdict{Property: spec.Linearizable, Decision: spec.Legal, Checked: 1})
	default:
		f := spec.CheckLinearizable(&x.History, o)
		v := spec.HistoryVerdict{Property: spec.Linearizable, Decision: f.Decision, Checked: 1, Event: f.Event, Why: f.Why}
		r.verdict(x, v)
	}
}

// verdict takes in what the history says of a property.
func (r *run) verdict(x *Execution, v spec.HistoryVerdict) {
	if v.Decision == spec.Undecided {
		x.Undecided = true
		return
	}
	if v.Checked > 0 {
		x.Exercised = x.Exercised.With(v.Property)
		if r.config.Checks != nil {
			r.config.Checks[v.Property]++
		}
	}
	if v.Decision != spec.Illegal {
		return
	}
	x.Found = x.Found.With(v.Property)
	step := x.StepOf(v.Event)
	x.Violations = append(x.Violations, scenario.Violation{Violation: spec.Violation{
		Property: v.Property, Detail: v.Why, Client: x.clientOf(v),
	}, Step: step})
}

// clientOf is the client that a verdict is about. What is said of linearizability says so itself.
func (x *Execution) clientOf(v spec.HistoryVerdict) uint8 {
	if v.Property == spec.Linearizable || v.Event < 0 {
		return 0
	}
	return uint8((int(x.History.Events[v.Event].Process)-1)%len(x.Scenario.Clients) + 1)
}
