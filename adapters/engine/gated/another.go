package gated

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// mostComparedGated bounds how many executions that violate one property are made smaller, to be compared with what is known.
const mostComparedGated = 4

// later are the first executions that violate a property of which a violation is known, as they were recorded.
type later [property.Most][]*finding

// note takes in one, unless others come before it.
func (l *later) note(known property.Set, p property.Property, d *finding) {
	if !known.Has(p) {
		return
	}
	all := append(l[p], d)
	slices.SortFunc(all, func(a, b *finding) int { return cmp.Compare(a.scenario, b.scenario) })
	l[p] = all[:min(len(all), mostComparedGated)]
}

// another looks for a violation that is not known, where the one found is.
func (s *shrinking) another() error {
	p, first := s.property, s.findings[s.property]
	if !s.labels.Knows(s.Known, p, first.trace) {
		return nil
	}
	s.compared[p] = 1
	for _, d := range s.later[p] {
		if d.scenario == first.scenario {
			continue
		}
		if s.time.Err() != nil || s.trouble != nil {
			break
		}
		s.compared[p]++
		if s.replace(d); s.shows(d) && !s.labels.Knows(s.Known, p, s.findings[p].trace) {
			return s.trouble
		}
	}
	s.replace(first)
	return s.trouble
}

// shows reports whether fresh clients show an execution, which is made smaller then.
func (s *shrinking) shows(d *finding) bool {
	sc := sim.Replay(d.trace)
	_, s.trouble = s.reproduce(s.ctx, s.time, &sc, property.Set(0).With(s.property), func(p property.Property, t *scenario.Trace, try int) {
		s.keep(p, reproduced(d.scenario, t, try))
	})
	if s.trouble == nil && !s.findings[s.property].suspected() {
		s.trouble = s.run()
	}
	return !s.findings[s.property].suspected()
}

// replace has a finding take the place of the one that there is.
func (s *shrinking) replace(d *finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings[s.property] = nil
	s.keepLocked(s.property, d)
}
