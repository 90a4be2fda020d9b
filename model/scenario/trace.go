package scenario

import (
	"slices"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// Trace is one execution, step by step, with its history and violations.
type Trace struct {
	Scenario Scenario
	// Setup are the steps before the first action: clients connect, and locks get their initial slots.
	Setup   []TraceStep
	Steps   []TraceStep
	History history.History
	// Violations are the violations in the order in which they were found.
	Violations []Violation
	// Errors are the messages of external clients' failed calls, by the index of the event that completes the call.
	Errors map[int]string
}

// Clients is the number of clients, including those that only audit.
func (t *Trace) Clients() int { return max(len(t.Scenario.Clients), t.History.Clients) }

// Violation is the trace's first violation of a property, and whether there is one.
func (t *Trace) Violation(p property.Property) (Violation, bool) {
	i := slices.IndexFunc(t.Violations, func(v Violation) bool { return v.Property == p })
	if i < 0 {
		return Violation{}, false
	}
	return t.Violations[i], true
}

// Shown is the number of steps that reports show. Steps of an audit after the last violation are left out.
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

// Scheduled is the number of steps that the schedule chose: all except those of an audit.
func (t *Trace) Scheduled() (n int) {
	for i := range t.Steps {
		if t.Steps[i].Action.Kind != Audit {
			n++
		}
	}
	return n
}

// TraceStep is one action of a trace, with its effects.
type TraceStep struct {
	Action Action
	Time   int64 // virtual milliseconds since the execution began
	// Exchange describes the command that the action sent and the server's reply, even if the client did not get it.
	// Method is 0 if no command was sent, or one that the model does not know.
	Exchange backend.Exchange
	// Command and Reply are the command and the reply of the exchange in words; "" if there was none. Resource is the
	// name of the command's resource, such as a queue.
	Command, Reply, Resource string
	// Payload is the command and reply in the backend's own type; nil if the trace was read from a file.
	Payload any
	// First is the index of the first event that the action added to the history. Events is the number of events that
	// it added.
	First, Events int
	// Truth is the broker's state of each lock after the action.
	Truth [lock.MaxLocks]monitor.Truth
}

// Violation is a violation with the step that shows it.
type Violation struct {
	property.Violation
	Step int // index in Trace.Steps; len(Steps) for violations after the last step
}

// Number sets History.Steps, so that texts about the history name the trace's steps.
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

// StepOf is the index of the step that added an event to the history. For an event that no step added, it is the index
// of the last step.
func (t *Trace) StepOf(event int) int {
	for i, s := range t.Steps {
		if event >= s.First && event < s.First+s.Events {
			return i
		}
	}
	return len(t.Steps) - 1
}
