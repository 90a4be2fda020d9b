package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// record is what is kept of a run.
type record struct {
	execution.Record
	errors  map[int]string // those of [scenario.Trace]
	trouble error          // what went wrong with clients that does not matter to the run
}

// exchange notes the command and reply of the action at hand.
func (r *record) exchange(cmd *wire.Command, m amqp.Command, reply amqp.Reply, names *amqp.Names) {
	sent := amqp.Sent{Command: m, Reply: reply, Names: names}
	r.Step.Exchange, r.Step.Payload, r.Step.Resource = m.Exchange(reply, true), sent, sent.Resource()
	r.Step.Command, r.Step.Reply = m.Words(names), reply.Words()
	if m.Method == amqp.NoMethod {
		r.Step.Command = cmd.Method.ID().String()
	}
}

// finish ends an action, and takes in which promises are seen broken, and which of users' own properties.
func (r *run) finish() {
	r.record.End(&[lock.MaxLocks]monitor.Truth{})
	r.record.Judged(&r.promises, r.watched(), len(r.record.Steps)-1)
	if len(r.config.Own) > 0 {
		r.judgeOwn()
	}
}

// plain reports whether all operations have come to a known end.
func (r *record) plain() bool {
	return !slices.ContainsFunc(r.Events, func(e history.Event) bool { return e.Process != history.Nemesis && e.Type == history.Info })
}

// invoke adds a call. alike says that slots have no numbers.
func (r *record) invoke(p *clientState, l uint8, alike bool) {
	arg := p.arg
	if alike && (p.op == lock.Verify || p.op == lock.Release) {
		arg = history.AnySlot
	}
	r.Add(history.Invocation(int32(p.id), l, p.op, arg, 0))
}

// complete adds the end of a call, with what the target said of an error.
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

// longestSaying is how much of an error's text is kept, in characters.
const longestSaying = 200

// explain keeps what the target said of the call that an event ends.
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

// did is what clients have done to a lock.
type did struct{ released, administered bool }

// did is what clients have done to a lock by now.
func (r *record) did(l uint8) (out did) {
	for _, e := range r.Events {
		if e.Lock != uint16(l) || e.Type != history.Invoke {
			continue
		}
		out.released = out.released || e.F.Op() == lock.Release
		out.administered = out.administered || e.F.Op().Administrative()
	}
	return out
}

// slots is how many slots a lock has by now that had so many at first, at least and at most.
func (r *record) slots(l uint8, at int, kind lock.Kind) (least, most int) {
	s := beliefs.NewSlots(at)
	called := make(map[int32]int)
	for _, e := range r.Events {
		if e.Lock != uint16(l) || e.Process == history.Nemesis {
			continue
		}
		if e.Type == history.Invoke {
			called[e.Process] = int(e.Slots)
			s.Begin(e.F.Op(), called[e.Process])
		} else {
			s.End(e.F.Op(), called[e.Process], e.Type)
		}
	}
	if kind == lock.PersistentMutex {
		return min(1, s.Least), min(1, s.Most)
	}
	return s.Least, s.Most
}
