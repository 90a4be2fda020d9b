package judge

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// FromHistory are the properties of which a history alone says something.
const FromHistory = property.Set(1<<property.Linearizable | 1<<property.MutualExclusion | 1<<property.StaleBeliefEnds | 1<<property.Progress)

// Execution gives the verdicts on an execution that only its whole history shows. m has watched it; nil says that what the
// server had is not known. While the monitor has a witness, that decides; the history is asked for only where it has none.
func Execution(m *monitor.Monitor, o linear.Options, whole func() *history.History, give func(linear.Verdict)) {
	switch {
	case m == nil:
		for _, v := range linear.Judge(whole(), o) {
			give(v)
		}
	case m.Witnesses(o.FailedAcquire):
		give(linear.Verdict{Property: property.Linearizable, Decision: linear.Legal, Checked: 1, Event: -1})
	default:
		f := linear.Check(whole(), o)
		give(linear.Verdict{Property: property.Linearizable, Decision: f.Decision, Checked: 1, Event: f.Event, Why: f.Why, Lock: f.Lock, Slot: f.Slot})
	}
}

// Read gives the verdicts on a history that nobody watched and that is read event by event: h is what is before its events.
// The error is for a history that is none.
func Read(h *history.History, read linear.Source, o linear.Options) ([]linear.Verdict, error) {
	return linear.JudgeRead(h, read, o)
}

// History gives the verdicts on a history that nobody watched. The error is for a history that is none.
func History(h *history.History, o linear.Options) ([]linear.Verdict, error) {
	if err := linear.Validate(h); err != nil {
		return nil, err
	}
	return linear.Judge(h, o), nil
}

// Violation is a verdict that its history is illegal as a violation in the trace of the execution.
func Violation(t *scenario.Trace, v linear.Verdict) scenario.Violation {
	out := scenario.Violation{Step: t.StepOf(v.Event), Violation: property.Violation{
		Property: v.Property, Kind: t.History.Kind, Lock: uint8(v.Lock), Slot: uint8(v.Slot), Detail: v.Why,
	}}
	if v.Property != property.Linearizable && v.Event >= 0 { // what is said of linearizability names the client itself
		out.Client = uint8(history.ClientOf(t.History.Events[v.Event].Process, len(t.Scenario.Clients)))
	}
	return out
}
