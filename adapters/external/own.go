package external

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// judgeOwn judges the moment after an action by users' own properties, as package sim does.
func (r *run) judgeOwn() {
	m, all := &r.monitor, r.config.Own.All()&r.judgeable()
	m.Exercised |= all
	if m.Checks != nil {
		for p := range all.All() {
			m.Checks[p]++
		}
	}
	var locks []string
	for _, l := range r.sc.Locks {
		locks = append(locks, l.Name)
	}
	watch := own.Watch{List: r.config.Own, Past: past{r}}
	m.Found |= watch.Step(m, len(r.clients), locks, all&^m.Found, func(p property.Property, detail string) {
		if r.config.Own.Of(p).Sometimes {
			return
		}
		r.record.Violations = append(r.record.Violations, scenario.Violation{
			Violation: property.Violation{Property: p, Own: r.config.Own.Name(p), Kind: r.config.Kind, Detail: detail},
			Step:      len(r.record.Steps) - 1,
		})
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
