package linear

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/lockproof/lockproof/model/history"
)

// Prefix is the longest linearizable prefix of a history, with a linearization that explains it.
type Prefix struct {
	// Events is the number of events in the prefix. The event after the prefix is an answer that no linearization
	// explains. If the whole history is linearizable, the prefix is the whole history.
	Events int
	Why    string // why the next event cannot be explained
	// Effects are the effects of operations in the order of the linearization. It is empty if none was found in time,
	// or if the explanation needs evidence from later events.
	Effects []Effect
}

// Effect is the effect of an operation at one moment of a linearization.
type Effect struct {
	Invocation int     // index of the event that invoked the operation
	At         float64 // position between events: 2.5 is between those with index 2 and 3
	What       string  // the effect in words
}

// LongestPrefix returns the longest linearizable prefix of one lock's history. Within the timeout, porcupine searches
// for a linearization of it. The result is nil if the history is not well-formed, if it was not decided, or if the
// event that cannot be explained is unknown.
func LongestPrefix(h *history.History, lock int, o Options, timeout time.Duration) *Prefix {
	f := Check(h, o)
	p := &Prefix{Events: len(h.Events), Why: f.Why}
	switch {
	case f.Decision == Undecided || f.Decision == Illegal && f.Event < 0:
		return nil
	case f.Decision == Illegal && f.Lock == lock:
		p.Events = f.Event
	}
	whole := *h
	whole.Events = h.Events[:p.Events]
	s, err := Specify(&whole, lock, o)
	if err != nil {
		return nil
	}
	p.Effects = s.explanation(timeout)
	return p
}

// explanation lists the effects in a linearization that porcupine finds, each effect as early as possible. It is nil if
// porcupine finds none in time.
func (p *Specification) explanation(timeout time.Duration) (all []Effect) {
	ops := p.Operations()
	for i := range ops { // porcupine needs Return >= Call, even for an impossible operation
		ops[i].Return = max(ops[i].Call, ops[i].Return)
	}
	result, info := porcupine.CheckOperationsVerbose(p.Model(), ops, timeout)
	if result != porcupine.Ok {
		return nil
	}
	// found has linearizations of one part of the history. The first one contains all operations of the part.
	for _, found := range info.PartialLinearizationsOperations() {
		all = p.effects(found[0], all)
	}
	slices.SortStableFunc(all, func(a, b Effect) int { return cmp.Compare(a.At, b.At) })
	return all
}

// effects appends the effects in a linearization of one part of the history.
func (p *Specification) effects(order []porcupine.Operation, all []Effect) []Effect {
	var now int64
	for _, op := range order {
		u := op.Input.(*atomicStep)
		now = max(now, op.Call)
		if u.op == none || u.do == doSet || u.partial {
			continue // not a client's operation, or one that may not have happened
		}
		at := float64(now)/float64(p.ticks.stride) - 1
		all = append(all, Effect{Invocation: int(p.r.calls[u.op].inv), At: at, What: p.describe(u)})
	}
	return all
}
