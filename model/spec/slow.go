package spec

import (
	"fmt"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// Bounds of what is put to porcupine: what is larger, it would not answer.
const (
	slowCalls   = 20000
	slowUnits   = 5000 // units that are checked together
	slowEndless = 40   // units among them that never return
)

// slow has porcupine decide what the fast check left undecided.
func (c *Checker) slow(f Finding, o LinearizableOptions) Finding {
	if len(c.resolver.calls) > slowCalls {
		return tooLarge(f)
	}
	// Some of porcupine's goroutines may go on after it has answered: what they look at is not used
	// again.
	r := c.resolver
	c.resolver = resolver{}
	p := r.specify(o.Strength)
	if !p.small() {
		return tooLarge(f)
	}
	limit := o.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	began := time.Now()
	switch p.Check(limit) {
	case porcupine.Ok:
		return Finding{Decision: Legal, Event: -1, How: byPorcupine}
	case porcupine.Illegal:
		return p.illegal(o, limit-time.Since(began))
	}
	f.Why += fmt.Sprintf("; and porcupine did not answer within %s", limit)
	return f
}

func tooLarge(f Finding) Finding {
	f.Why += "; and the history is too large for porcupine"
	return f
}

// small reports whether porcupine can be expected to answer.
func (p *Specification) small() bool {
	for _, part := range p.partition(p.Operations()) {
		pending := 0
		for i := range part {
			if part[i].Return == p.ticks.end {
				pending++
			}
		}
		if len(part) > slowUnits || pending > slowEndless {
			return false
		}
	}
	return true
}

// illegal is the finding of a history that is, with the event from which on it is: beginnings of a
// history explain less and less as they grow.
func (p *Specification) illegal(o LinearizableOptions, limit time.Duration) Finding {
	f := Finding{Decision: Illegal, Event: -1, How: byPorcupine, Why: "no order of the operations explains the answers"}
	end := time.Now().Add(limit)
	known := true
	n := sort.Search(len(p.r.h.Events), func(n int) bool {
		r, left := p.beginning(n, o), time.Until(end)
		if left <= 0 {
			known = false
			return true
		}
		res := r.Check(left)
		known = known && res != porcupine.Unknown
		return res == porcupine.Illegal
	})
	if e := &p.r.h.Events[n-1]; known && e.Process != Nemesis {
		f.Event, f.Slot = n-1, int(e.Slot)
		f.Why = fmt.Sprintf("no order of the operations explains the answer to c%d's %s (event %d)", e.Process, e.F, n-1)
	}
	return f
}

// beginning is the specification of the first n events.
func (p *Specification) beginning(n int, o LinearizableOptions) *Specification {
	h := *p.r.h
	h.Events = h.Events[:n]
	r := new(resolver)
	if err := r.resolve(&h, p.r.lock, o.Permits); err != nil {
		panic("spec: a beginning is malformed: " + err.Error()) // the whole was not
	}
	return r.specify(o.Strength)
}
