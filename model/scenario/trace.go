package scenario

import (
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// Trace is one execution, step by step.
type Trace struct {
	Scenario Scenario
	// Setup are the steps before the first action: connections, and the initial slots of locks.
	Setup   []TraceStep
	Steps   []TraceStep
	History history.History
	// Violations are in the order in which the monitor saw them.
	Violations []Violation
	// Errors are the messages of external clients for failed calls, by the index of the event that ends the call.
	Errors map[int]string
}

// Clients is the number of clients: those of the scenario, and those that audit.
func (t *Trace) Clients() int { return max(len(t.Scenario.Clients), t.History.Clients) }

// Violation is the trace's first violation of a property, and whether there is one.
func (t *Trace) Violation(p property.Property) (Violation, bool) {
	i := slices.IndexFunc(t.Violations, func(v Violation) bool { return v.Property == p })
	if i < 0 {
		return Violation{}, false
	}
	return t.Violations[i], true
}

// Shown is the number of steps to be shown: an audit ends with the last violation in it.
func (t *Trace) Shown() int {
	n, last := len(t.Steps), 0
	for _, v := range t.Violations {
		last = max(last, v.Step+1)
	}
	for last > 0 && n > last && t.Steps[n-1].Action.Kind == Audit {
		n--
	}
	return n
}

// Scheduled is the number of steps that the schedule has decided. Steps of an audit are not among them.
func (t *Trace) Scheduled() (n int) {
	for i := range t.Steps {
		if t.Steps[i].Action.Kind != Audit {
			n++
		}
	}
	return n
}

// TraceStep is one action and its effects.
type TraceStep struct {
	Action Action
	Time   int64 // virtual milliseconds since the beginning
	// Exchange is the command that the action sent and the server's reply, whether or not the client saw it. Method
	// is 0 if the action sent none, or one that the model does not have.
	Exchange backend.Exchange
	// Command and Reply are the same in words, "" for none; Resource is the name of the command's resource.
	Command, Reply, Resource string
	// Payload is the backend's own form of command and reply, if the trace was made in this process.
	Payload any
	// First and Events are the part of the history that the action added: Events events from index First on.
	First, Events int
	// Truth is the broker's state of each lock after the action.
	Truth [lock.MaxLocks]monitor.Truth
}

// Violation is a violated property, and when it was seen.
type Violation struct {
	property.Violation
	Step int // index in Steps; len(Steps) is the end of the execution
}

// Number makes the history refer to the trace's steps.
func (t *Trace) Number() {
	t.History.Steps = make([]int32, len(t.History.Events))
	for i, s := range t.Steps {
		for k := s.First; k < min(s.First+s.Events, len(t.History.Steps)); k++ {
			t.History.Steps[k] = int32(i + 1)
		}
	}
}

// Restarts reports whether the server restarts during the trace.
func (t *Trace) Restarts() bool {
	return slices.ContainsFunc(t.Steps, func(s TraceStep) bool { return s.Action.Kind == Restart })
}

// StepOf is the step that added an event to the history; an event without a step belongs to the end.
func (t *Trace) StepOf(event int) int {
	for i, s := range t.Steps {
		if event >= s.First && event < s.First+s.Events {
			return i
		}
	}
	return len(t.Steps) - 1
}
