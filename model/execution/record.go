package execution

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Record is the record of one execution: events, steps and violations. The zero value is an empty record.
type Record struct {
	Events     []history.Event
	Setup      []scenario.TraceStep
	Steps      []scenario.TraceStep
	Violations []scenario.Violation
	Step       scenario.TraceStep // the current step

	now  int64 // present time in virtual milliseconds
	open bool  // the current step has begun and not ended
}

// Reset clears the record for another execution. It reuses the memory.
func (r *Record) Reset() {
	r.Events, r.Setup, r.Steps, r.Violations = r.Events[:0], r.Setup[:0], r.Steps[:0], r.Violations[:0]
	r.now, r.open = 0, false
}

// At sets the present time, which later events get, in virtual milliseconds.
func (r *Record) At(now int64) { r.now = now }

// Add appends an event of the present time to the history, and returns its index.
func (r *Record) Add(e history.Event) int {
	e.Time = r.now * 1e6
	r.Events = append(r.Events, e)
	return len(r.Events) - 1
}

// Begin begins a step, in which the action a happens.
func (r *Record) Begin(a scenario.Action) {
	r.Step = scenario.TraceStep{Action: a, First: len(r.Events)}
	r.open = true
}

// Open reports whether a step is under way.
func (r *Record) Open() bool { return r.open }

// End ends the current step. truth is the servers' state of each lock after the step.
func (r *Record) End(truth *[lock.MaxLocks]monitor.Truth) {
	r.Step.Time, r.Step.Events, r.Step.Truth = r.now, len(r.Events)-r.Step.First, *truth
	r.Steps = append(r.Steps, r.Step)
	r.open = false
}

// Violated records a violation that was seen at the step that has just ended.
func (r *Record) Violated(v property.Violation) {
	r.Violations = append(r.Violations, scenario.Violation{Violation: v, Step: max(0, len(r.Steps)-1)})
}

// Judged records the monitor's new violations, if their properties are in judged. step is the index of the step that
// shows them. For violations found after the last step it is the number of steps.
func (r *Record) Judged(m *monitor.Monitor, judged property.Set, step int) {
	for _, v := range m.TakeNew() {
		if judged.Has(v.Property) {
			r.Violations = append(r.Violations, scenario.Violation{Violation: v, Step: step})
		}
	}
}
