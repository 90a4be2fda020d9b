package sim

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// past is what users' own properties see of an execution beside its state.
type past struct{ w *World }

// Events implements [own.Past].
func (p past) Events() []history.Event { return p.w.record.Events }

// Last implements [own.Past].
func (p past) Last() own.Exchange {
	r := &p.w.record
	if r.sent.Method == 0 {
		return own.Exchange{}
	}
	step := scenario.TraceStep{Exchange: r.sent}
	p.w.cluster.Describe(&step)
	return own.Exchange{What: r.sent, Client: int(r.by), Command: step.Command, Reply: step.Reply}
}

// NewRunner is a runner that also judges by users' own properties.
func NewRunner(list own.List) *Runner {
	r := new(Runner)
	if len(list) > 0 {
		r.Own = &own.Watch{List: list, Past: past{&r.World}}
	}
	return r
}

// judgeOwn judges the moment by users' own properties, which the monitor then counts as its own.
func (w *World) judgeOwn() {
	m := &w.Monitor
	all := w.Own.List.All()
	m.Exercised |= all
	for i := range w.Own.List {
		if m.Checks != nil {
			m.Checks[own.ID(i)]++
		}
	}
	m.Found |= w.Own.Step(m, len(w.clients), w.locks, all&^m.Found, w.tellOwn)
}

// tellOwn notes that one was seen violated, at the step that was just taken.
func (w *World) tellOwn(p property.Property, detail string) {
	if !w.record.tracing || w.Own.List.Of(p).Sometimes {
		return
	}
	w.record.Violations = append(w.record.Violations, scenario.Violation{
		Violation: property.Violation{Property: p, Own: w.Own.List.Name(p), Kind: w.target.Kind, Detail: detail},
		Step:      max(0, len(w.record.Steps)-1),
	})
}

// Own judges the state at hand by the bounds' own properties.
func (s *System) Own() property.Set {
	if s.own == nil {
		return 0
	}
	w := &s.world
	return s.own.Step(&w.Monitor, len(w.clients), w.locks, s.bounds.Properties, nil)
}
