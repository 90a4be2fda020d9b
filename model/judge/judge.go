package judge

import (
	"errors"
	"slices"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// FromHistory are the properties of which a history alone says something.
const FromHistory = property.Set(1<<property.Linearizable | 1<<property.MutualExclusion | 1<<property.StaleBeliefEnds | 1<<property.Progress)

// Execution gives the verdicts that need an execution's whole history. m has watched it; nil says that the server's
// state is not known. If the monitor has a witness, the witness decides, and the history is not asked for.
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

// Read gives the verdicts on a history that no monitor watched, and reads it event by event; h describes the history.
// The error is a malformed history.
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

// History gives the verdicts on a history without a monitor. The error is a malformed history.
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
		e := &t.History.Events[v.Event]
		who := e.Process
		if who == history.Nemesis && e.F.Whose() { // what befell somebody
			who = e.Target
		}
		out.Client = uint8(history.ClientOf(who, t.Clients()))
	}
	return out
}

// Certain gives the verdicts on safety in a history of somebody else's clients, of whose lock nothing else is known: by what each of
// them holds for certain.
func Certain(h *history.History, o linear.Options) (all []linear.Verdict) {
	b := beliefs.Certain(h, o)
	for i := range h.Events {
		b.Event(i, &h.Events[i])
	}
	for _, v := range b.Verdicts() {
		if property.Safety.With(property.LossTold).Has(v.Property) {
			all = append(all, v)
		}
	}
	return all
}

// Audit gives the verdicts on recovery of the audit that a history ends with. before is what has happened beside what it tells of.
// The error is that there is no audit, or one of reading.
func Audit(h *history.History, read linear.Source, o linear.Options, before beliefs.Before) ([]linear.Verdict, error) {
	a, n := beliefs.NewAudit(h, o), 0
	a.Before = before
	err := read(func(e *history.Event) error {
		a.Event(n, e)
		n++
		return nil
	})
	if err == nil && !a.Begun() {
		err = ErrNoAudit
	}
	return a.Verdicts(), err
}

// ErrNoAudit is the error of a history that does not say where its audit begins.
var ErrNoAudit = errors.New(`no audit: expected {"type":"info","process":"nemesis","f":"audit"} where all is at rest, and behind it fresh clients that acquire and release`)

// Events gives the events of a history that is at hand.
func Events(h *history.History) linear.Source {
	return func(event func(e *history.Event) error) error {
		for i := range h.Events {
			if err := event(&h.Events[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// Merge has each property once among some verdicts: broken where one of them says so.
func Merge(verdicts []linear.Verdict) (all []linear.Verdict) {
	for _, v := range verdicts {
		i := slices.IndexFunc(all, func(o linear.Verdict) bool { return o.Property == v.Property })
		if i < 0 {
			all = append(all, v)
			continue
		}
		checked := all[i].Checked + v.Checked
		if v.Decision == linear.Illegal && all[i].Decision != linear.Illegal {
			all[i] = v
		}
		all[i].Checked = checked
	}
	return all
}
