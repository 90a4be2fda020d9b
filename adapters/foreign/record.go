package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// record is the record of a run: its steps, events and violations.
type record struct {
	execution.Record
	errors  map[int]string // error texts by event, for [scenario.Trace]
	trouble error          // errors of killing clients, which do not end the run
}

// finish ends an action, and records the promises and custom properties that are violated.
func (r *run) finish() {
	r.endStep()
	r.record.Judged(&r.promises, r.watched(), len(r.record.Steps)-1)
	if len(r.config.Own) > 0 {
		r.judgeOwn()
	}
}

// plain reports whether all operations have a known outcome: no event is an info.
func (r *record) plain() bool {
	return !slices.ContainsFunc(r.Events, func(e history.Event) bool { return e.Process != history.Nemesis && e.Type == history.Info })
}

// invoke adds the invocation of an operation. alike says that slots have no numbers.
func (r *record) invoke(p *clientState, l uint8, alike bool, params *Params) {
	arg := p.arg
	if alike && (p.op.AsksHeld() || p.op == lock.Release) {
		arg = history.AnySlot
	}
	r.Add(shareOf(history.Invocation(int32(p.id), l, p.op, arg, 0), params))
}

// complete adds the completion of an operation, with the target's error text. alike says that slots have no numbers.
func (r *record) complete(p *clientState, l uint8, res lock.Result, answer *answer, alike bool) {
	if alike {
		res.Slot = history.AnySlot
	}
	e := history.Completion(int32(p.id), l, p.op, res)
	if p.op == lock.Acquire && res.Held {
		e.Token = answer.token
	}
	r.explain(r.Add(e), answer.said)
}

// longestSaying is the maximum length of a recorded error text, in characters.
const longestSaying = 200

// explain records the target's error text for the call that ends with the given event.
func (r *record) explain(event int, said string) {
	if said == "" {
		return
	}
	if all := []rune(said); len(all) > longestSaying {
		said = string(all[:longestSaying]) + "…"
	}
	if r.errors == nil {
		r.errors = make(map[int]string)
	}
	r.errors[event] = said
}
