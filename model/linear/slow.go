package linear

import (
	"fmt"
	"sort"

	"github.com/lockproof/lockproof/model/history"
)

// The bounds of a history that is searched. A larger one would need too much memory.
const (
	slowCalls    = 20000
	maxSlowSteps = 5000 // largest number of atomic steps in one part
	slowEndless  = 400  // largest number of atomic steps in one part that never return
)

// DefaultSteps is the default for Options.Steps: the number of steps that the search may take over one lock. They take
// a second or two.
const DefaultSteps = 1 << 19

// slow searches for a linearization if the fast check, with the finding f, was undecided. The search is bounded by a
// number of steps, not by time. Its decision is therefore the same on every machine, however busy.
func (c *Checker) slow(f Finding, o Options) Finding {
	if len(c.normaliser.calls) > slowCalls || len(c.normaliser.h.Events) == 0 { // the history is read, not in memory
		return tooLarge(f)
	}
	r := c.normaliser
	c.normaliser = normaliser{} // the specification keeps using the normaliser's data
	p := r.specify(o.FailedAcquire)
	if !p.small() {
		return tooLarge(f)
	}
	steps := o.Steps
	if steps == 0 {
		steps = DefaultSteps
	}
	res, left := p.Check(steps)
	switch res {
	case Legal:
		return Finding{Decision: Legal, Event: -1, How: bySearch}
	case Illegal:
		return p.illegal(o, left)
	}
	f.Why += fmt.Sprintf("; and the search for an order was not over after %d steps", steps)
	return f
}

func tooLarge(f Finding) Finding {
	f.Why += "; and the history is too large to search for an order"
	return f
}

// small reports whether the specification is small enough to be searched.
func (p *Specification) small() bool {
	for _, part := range p.partition(p.Operations()) {
		pending := 0
		for i := range part {
			if part[i].Return == p.ticks.end {
				pending++
			}
		}
		if len(part) > maxSlowSteps || pending > slowEndless {
			return false
		}
	}
	return true
}

// illegal is the finding on an illegal history. With the steps that are left, it looks for the shortest illegal prefix,
// to name its last event. A longer prefix of an illegal one is illegal too.
func (p *Specification) illegal(o Options, steps int) Finding {
	f := Finding{Decision: Illegal, Event: -1, How: bySearch, Why: "no order of the operations explains the answers"}
	known := true
	n := sort.Search(len(p.r.h.Events), func(n int) bool {
		if !known {
			return true
		}
		res, left := p.beginning(n, o).Check(steps)
		known, steps = res != Undecided, left
		return res == Illegal
	})
	if !known {
		return f
	}
	if e := &p.r.h.Events[n-1]; e.Process != history.Nemesis {
		f.Event, f.Slot = n-1, int(e.Slot)
		f.Why = fmt.Sprintf("no order of the operations explains the answer to %s's %s (%s)", p.r.h.Who(e.Process), e.F, p.r.h.Moment(n-1))
	}
	return f
}

// beginning is the specification of the first n events of the history.
func (p *Specification) beginning(n int, o Options) *Specification {
	h := *p.r.h
	h.Events = h.Events[:n]
	r := new(normaliser)
	if err := r.normalise(&h, p.r.lock, o); err != nil {
		panic("linear: a beginning is malformed: " + err.Error()) // the whole history is well-formed
	}
	return r.specify(o.FailedAcquire)
}
