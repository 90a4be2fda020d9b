package judge

import (
	"github.com/lockproof/lockproof/model/beliefs"
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
		for _, v := range judged(whole(), o) {
			give(v)
		}
	case m.Witnesses(o.FailedAcquire):
		give(linear.Verdict{Property: property.Linearizable, Decision: linear.Legal, Checked: 1, Event: -1})
	default:
		give(linear.Check(whole(), o).Verdict(1))
	}
}

// Read gives the verdicts on a history that nobody watched and that is read event by event: h is what is before its events.
// The error is for a history that is none.
func Read(h *history.History, read linear.Source, o linear.Options) ([]linear.Verdict, error) {
	b := beliefs.New(h, o)
	f, err := linear.CheckRead(h, beside(read, b), o)
	if err != nil {
		return nil, err
	}
	return verdicts(f, b), nil
}

// verdicts are the finding on a history and what beliefs show of it. One that says nothing of its lock puts nothing to the test.
func verdicts(f linear.Finding, b *beliefs.Judge) []linear.Verdict {
	answers := b.Answers()
	v := f.Verdict(answers.Called)
	if v.Decision == linear.Legal {
		v.Unjudged = answers.Silence()
	}
	return append([]linear.Verdict{v}, b.Verdicts()...)
}

// beside has beliefs judged by the events as well, when they are read for the first time.
func beside(read linear.Source, b *beliefs.Judge) linear.Source {
	again, n := false, 0
	return func(event func(e *history.Event) error) error {
		defer func() { again = true }()
		return read(func(e *history.Event) error {
			err := event(e)
			if err == nil && !again {
				b.Event(n, e)
				n++
			}
			return err
		})
	}
}

// History gives the verdicts on a history that nobody watched. The error is for a history that is none.
func History(h *history.History, o linear.Options) ([]linear.Verdict, error) {
	if err := linear.Validate(h); err != nil {
		return nil, err
	}
	return judged(h, o), nil
}

// judged gives the verdicts on a history that is one.
func judged(h *history.History, o linear.Options) []linear.Verdict {
	b := beliefs.New(h, o)
	for i := range h.Events {
		b.Event(i, &h.Events[i])
	}
	return verdicts(linear.Check(h, o), b)
}

// Violation is a verdict that its history is illegal as a violation in the trace of the execution.
func Violation(t *scenario.Trace, v linear.Verdict) scenario.Violation {
	out := scenario.Violation{Step: t.StepOf(v.Event), Violation: property.Violation{
		Property: v.Property, Kind: t.History.Kind, Lock: uint8(v.Lock), Slot: uint8(v.Slot), Detail: v.Why,
	}}
	if v.Property != property.Linearizable && v.Event >= 0 { // what is said of linearizability names the client itself
		out.Client = uint8(history.ClientOf(t.History.Events[v.Event].Process, t.Clients()))
	}
	return out
}
