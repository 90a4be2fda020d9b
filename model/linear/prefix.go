package linear

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/lockproof/lockproof/model/history"
)

// Prefix is the longest prefix of a history that has an explanation: an order in which its operations took effect.
type Prefix struct {
	// Events is the number of its events. The next event is an answer that nothing explains; if the whole history is
	// linearizable, there is no next event.
	Events int
	Why    string // the reason why it ends there
	// Effects are an explanation of the prefix, in order; empty if none was found in time, or if it needs evidence
	// from later events.
	Effects []Effect
}

// Effect is one effect of an operation in an explanation.
type Effect struct {
	Invocation int     // index of the event that invoked the operation
	At         float64 // position among the events: 2.5 is between those with the indices 2 and 3
	What       string  // the effect in words
}

// LongestPrefix is the longest linearizable prefix of one lock's history, as porcupine explains it within the given
// time. It is nil if the history is not well-formed, or was not decided.
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

// explanation is an order of effects by which porcupine explains the history, each as early as possible; nil if it
// found none in time.
func (p *Specification) explanation(timeout time.Duration) (all []Effect) {
	ops := p.Operations()
	for i := range ops { // an operation without a possible moment ends before it begins
		ops[i].Return = max(ops[i].Call, ops[i].Return)
	}
	result, info := porcupine.CheckOperationsVerbose(p.Model(), ops, timeout)
	if result != porcupine.Ok {
		return nil
	}
	for _, found := range info.PartialLinearizationsOperations() { // for each part, one that covers all of it
		all = p.effects(found[0], all)
	}
	slices.SortStableFunc(all, func(a, b Effect) int { return cmp.Compare(a.At, b.At) })
	return all
}

// effects appends the effects of a linearization of one part of the history.
func (p *Specification) effects(order []porcupine.Operation, all []Effect) []Effect {
	var now int64
	for _, op := range order {
		u := op.Input.(*atomicStep)
		now = max(now, op.Call)
		if u.op == none || u.do == doSet || u.partial {
			continue // it is not a client's, or may not have happened
		}
		at := float64(now)/float64(p.ticks.stride) - 1
		all = append(all, Effect{Invocation: int(p.r.calls[u.op].inv), At: at, What: p.describe(u)})
	}
	return all
}
