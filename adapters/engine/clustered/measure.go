package clustered

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/property"
)

// Measure is the measurement of one lock during faults of its cluster. Times are from one run on one machine.
type Measure struct {
	// Together are the periods before the audit in which two clients certainly held the same slot.
	Together []beliefs.Overlap
	// Longest is the length of the longest such period. Standing says that in at least one period both clients held the
	// slot until the audit.
	Longest  time.Duration
	Standing bool
	// Told is how the client whose hold ended first learned this, in the longest period: for example "basic.cancel". ""
	// means that the client did not learn it.
	Told string
	// Lost says that verify failed for a client although it was the only holder and its connection was open.
	Lost bool
	// Stuck says that the audit could not acquire a slot that was free.
	Stuck bool
	// Tokens is the number of tokens in the queue at the end, for a design with a token. -1 means unknown, or no token.
	Tokens int
}

// Twice reports whether two clients held a slot at once.
func (m *Measure) Twice() bool { return len(m.Together) > 0 }

// measure computes the measurement from the recorded history.
func (a *attempt) measure() Measure {
	h := beforeAudit(a.out.History)
	m := Measure{Together: beliefs.Overlaps(h), Tokens: -1}
	for _, o := range m.Together {
		m.Standing = m.Standing || o.Standing()
		if d := time.Duration(o.To - o.From); d > m.Longest {
			m.Longest, m.Told = d, end(ending(&o), a.stats.Told)
		}
	}
	for _, hold := range beliefs.Holds(h) {
		m.Lost = m.Lost || hold.End == beliefs.Denied && !slices.ContainsFunc(m.Together, func(o beliefs.Overlap) bool { return o.First == hold || o.Second == hold })
	}
	m.Stuck = stuck(a.out.History)
	if d := a.trial.Design; d != nil && d.Token && a.token == nil {
		m.Tokens = a.tokens
	}
	return m
}

// ending returns the hold that ended first, of the two holds that overlap.
func ending(o *beliefs.Overlap) *beliefs.Hold {
	if o.First.End == beliefs.Standing || o.Second.End != beliefs.Standing && o.Second.To < o.First.To {
		return &o.Second
	}
	return &o.First
}

// beforeAudit returns the part of a history before its audit.
func beforeAudit(h *history.History) *history.History {
	before := *h
	if i := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.F == history.Audit }); i >= 0 {
		before.Events = h.Events[:i]
	}
	return &before
}

// end says how the client of a hold learned that its hold was over; "" if it did not learn it.
func end(hold *beliefs.Hold, told []clientstress.Told) string {
	switch hold.End {
	case beliefs.Standing:
		return ""
	case beliefs.Ended:
		for _, t := range told {
			if t.Process == hold.Process && t.At >= hold.To {
				return t.How
			}
		}
	case beliefs.Denied:
		return "verify"
	}
	return hold.End.String()
}

// words describe, one line each, the periods in which two clients held a slot.
func (m *Measure) words(h *history.History) (all []string) {
	for _, o := range m.Together {
		said := fmt.Sprintf("%s and %s held %s for %s from %s on", h.Who(o.First.Process), h.Who(o.Second.Process), h.SlotName(o.First.Slot),
			seconds(o.To-o.From), seconds(o.From))
		if o.Standing() {
			said += " and nobody was told before the audit"
		} else {
			over := ending(&o)
			said += fmt.Sprintf(" until %s was %s", h.Who(over.Process), over.End)
		}
		all = append(all, said)
	}
	if m.Told != "" {
		all = append(all, "told by "+m.Told)
	}
	return all
}

// left says, in one line, how many tokens are in the lock's queue at the end. It returns nil for a lock without a
// token.
func (a *attempt) left() []string {
	d := a.trial.Design
	switch {
	case d == nil || !d.Token:
		return nil
	case a.token != nil:
		return []string{fmt.Sprintf("the queue could not be asked: %v", a.token)}
	case a.tokens == 1:
		return []string{"the one token"}
	}
	return []string{fmt.Sprintf("%d tokens of 1", a.tokens)}
}

// befell lists the faults of the machines, each with its time.
func befell(h *history.History) (all []string) {
	for _, e := range h.Events {
		if e.F.Machine() {
			all = append(all, fmt.Sprintf("%s %s", seconds(e.Time), nemesis.Step{F: e.F, Nodes: e.Nodes, To: e.To}))
		}
	}
	return all
}

// stuck reports whether the audit at the end of a history violates a recovery property: the audit could not acquire a
// slot, although the slot was free.
func stuck(h *history.History) bool {
	verdicts, err := judge.Audit(h, judge.Events(h), linear.Options{}, beliefs.Before{})
	return err == nil && slices.ContainsFunc(verdicts, func(v linear.Verdict) bool {
		return property.Recovery.Has(v.Property) && v.Decision == linear.Illegal
	})
}

func seconds(nanoseconds int64) string {
	return fmt.Sprintf("%.1f s", time.Duration(nanoseconds).Seconds())
}
