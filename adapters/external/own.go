package external

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
)

// judgeOwn judges the moment after an action by users' own properties, as package sim does.
func (r *run) judgeOwn() {
	var locks []string
	for _, l := range r.sc.Locks {
		locks = append(locks, l.Name)
	}
	watch := own.Watch{List: r.config.Own, Past: past{r}}
	watch.Judge(&r.monitor, len(r.clients), locks, r.config.Own.All()&r.judgeable(), func(v property.Violation) {
		v.Kind = r.config.Kind
		r.record.Violated(v)
	})
}

// past is what users' own properties see of a run beside its state.
type past struct{ *run }

// Events implements [own.Past].
func (p past) Events() []history.Event { return p.record.Events }

// Last implements [own.Past].
func (p past) Last() own.Exchange {
	s := &p.record.Step
	if s.Command == "" {
		return own.Exchange{}
	}
	return own.Exchange{What: s.Exchange, Client: int(s.Action.Client), Command: s.Command, Reply: s.Reply}
}
