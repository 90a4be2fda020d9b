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

// FromHistory are the properties that every history allows to judge without the server's state.
const FromHistory = property.Set(1<<property.Linearizable | 1<<property.MutualExclusion | 1<<property.StaleBeliefEnds | 1<<property.Progress)

// Execution gives the verdicts that need an execution's whole history. m has monitored the execution; nil means that
// the server's state is unknown. If the monitor has a witness of linearizability, the history is linearizable, and
// whole, which returns it, is not called.
func Execution(m *monitor.Monitor, o linear.Options, whole func() *history.History, give func(linear.Verdict)) {
	switch {
	case m == nil:
		h := whole()
		for _, v := range verdicts(linear.Check(h, o), observe(beliefs.New(h, o), h), nil) {
			give(v)
		}
	case m.Witnesses(o.FailedAcquire):
		give(linear.Verdict{Property: property.Linearizable, Decision: linear.Legal, Checked: 1, Event: -1})
	default:
		give(linear.Check(whole(), o).Verdict(1))
	}
}

// Read judges a history without a monitor. It reads the events one by one from read; h has everything else. An error
// means that the history is malformed.
func Read(h *history.History, read linear.Source, o linear.Options) ([]linear.Verdict, error) {
	b, r := beliefs.New(h, o), newRefusals(h, o)
	f, err := linear.CheckRead(h, beside(read, func(i int, e *history.Event) {
		b.Event(i, e)
		r.event(i, e)
	}), o)
	if err != nil {
		return nil, err
	}
	return verdicts(f, b, r), nil
}

// verdicts are the finding f on linearizability, with the refusals that r judges, and the verdicts of b. r may be nil.
// If no answer reveals a holder, linearizability is Unjudged.
func verdicts(f linear.Finding, b *beliefs.Judge, r *refusals) []linear.Verdict {
	answers := b.Answers()
	v := f.Verdict(answers.Called)
	if r != nil {
		v = r.found(v)
	}
	if v.Decision == linear.Legal {
		v.Unjudged = answers.Silence()
	}
	believed := b.Verdicts()
	if f.Decision == linear.Legal {
		acquit(believed)
	}
	return append([]linear.Verdict{v}, believed...)
}

// acquit drops an accusation of mutual-exclusion in a linearizable history: an order of its operations explains all
// answers, and in it nobody held what another held.
func acquit(all []linear.Verdict) {
	for i := range all {
		if v := &all[i]; v.Property == property.MutualExclusion && v.Decision == linear.Illegal {
			*v = linear.Verdict{Property: v.Property, Decision: linear.Legal, Checked: v.Checked, Event: -1}
		}
	}
}

// beside returns a source that also passes each event to see when it is read for the first time.
func beside(read linear.Source, see func(i int, e *history.Event)) linear.Source {
	again, n := false, 0
	return func(event func(e *history.Event) error) error {
		defer func() { again = true }()
		return read(func(e *history.Event) error {
			err := event(e)
			if err == nil && !again {
				see(n, e)
				n++
			}
			return err
		})
	}
}

// History judges a history without a monitor. An error means that the history is malformed.
func History(h *history.History, o linear.Options) ([]linear.Verdict, error) {
	if err := linear.Validate(h); err != nil {
		return nil, err
	}
	r := newRefusals(h, o)
	for i := range h.Events {
		r.event(i, &h.Events[i])
	}
	return verdicts(linear.Check(h, o), observe(beliefs.New(h, o), h), r), nil
}

// observe passes all events of a history to a judge, and returns the judge.
func observe(b *beliefs.Judge, h *history.History) *beliefs.Judge {
	for i := range h.Events {
		b.Event(i, &h.Events[i])
	}
	return b
}

// Violation converts a verdict of an illegal history to a violation with its step in the trace t.
func Violation(t *scenario.Trace, v linear.Verdict) scenario.Violation {
	out := scenario.Violation{Step: t.StepOf(v.Event), Violation: property.Violation{
		Property: v.Property, Kind: t.History.Kind, Lock: uint8(v.Lock), Slot: uint8(v.Slot), Detail: v.Why,
	}}
	if v.Property != property.Linearizable && v.Event >= 0 { // texts about linearizability name the client themselves
		e := &t.History.Events[v.Event]
		who := e.Process
		if who == history.Nemesis && e.F.Whose() { // an event of the environment that concerns one client
			who = e.Target
		}
		out.Client = uint8(history.ClientOf(who, t.Clients()))
	}
	return out
}

// Certain judges safety in a history of external clients whose lock has an unknown design. The verdicts depend only on
// holds that are certain.
func Certain(h *history.History, o linear.Options) (all []linear.Verdict) {
	for _, v := range observe(beliefs.Certain(h, o), h).Verdicts() {
		if property.Safety.With(property.LossTold).Has(v.Property) {
			all = append(all, v)
		}
	}
	return all
}

// Audit judges recovery by the audit, the last part of a history. before are faults that the history does not show. An
// error means that the history has no audit or could not be read.
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

// ErrNoAudit says that no event of a history begins an audit.
var ErrNoAudit = errors.New(`no audit: expected {"type":"info","process":"nemesis","f":"audit"} where all is at rest, and behind it fresh clients that acquire and release`)

// Events is the source of a history in memory.
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

// Merge combines verdicts on the same property. The result is a violation if one of them is.
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
