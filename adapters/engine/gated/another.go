package gated

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// mostComparedGated is the maximum number of executions per violated property that are minimised to compare them with
// the known violations.
const mostComparedGated = 4

// later has, for each property with a known violation, the first recorded executions that violate it.
type later [property.Most][]*finding

// note adds finding d of property p, unless there are enough findings from earlier executions.
func (l *later) note(known property.Set, p property.Property, d *finding) {
	if !known.Has(p) {
		return
	}
	all := append(l[p], d)
	slices.SortFunc(all, func(a, b *finding) int { return cmp.Compare(a.scenario, b.scenario) })
	l[p] = all[:min(len(all), mostComparedGated)]
}

// another searches for an unknown violation if the violation that was found is known.
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

// shows reports whether fresh clients reproduce the violation of finding d. If so, it minimises the execution.
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

// replace puts finding d in place of the current one.
func (s *shrinking) replace(d *finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings[s.property] = nil
	s.keepLocked(s.property, d)
}
