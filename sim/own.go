package sim

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// past gives custom properties access to the history of an execution.
type past struct{ w *World }

// Events implements [own.Past]: it returns the events of the history so far.
func (p past) Events() []history.Event { return p.w.record.Events }

// Last implements [own.Past]: it returns the command that the last action sent, with its reply.
func (p past) Last() own.Exchange {
	r := &p.w.record
	if r.sent.Method == 0 {
		return own.Exchange{}
	}
	step := scenario.TraceStep{Exchange: r.sent}
	p.w.cluster.Describe(&step)
	return own.Exchange{What: r.sent, Client: int(r.by), Command: step.Command, Reply: step.Reply}
}

// NewRunner returns a runner that also judges the user's custom properties in list.
func NewRunner(list own.List) *Runner {
	r := new(Runner)
	if len(list) > 0 {
		r.Own = &own.Watch{List: list, Past: past{&r.World}}
	}
	return r
}

// judgeOwn evaluates the custom properties after an action.
func (w *World) judgeOwn() {
	w.Own.Judge(&w.Monitor, len(w.clients), w.locks, w.Own.List.All(), func(v property.Violation) {
		if w.record.tracing {
			v.Kind = w.target.Kind
			w.record.Violated(v)
		}
	})
}

// Own returns the custom properties that the current state violates.
func (s *System) Own() property.Set {
	if s.own == nil {
		return 0
	}
	w := &s.world
	return s.own.Step(&w.Monitor, len(w.clients), w.locks, s.bounds.Properties, nil)
}
