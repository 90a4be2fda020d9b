package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// record is what is kept of a run.
type record struct {
	execution.Record
	names   *amqp.Names    // that commands speak of
	errors  map[int]string // those of [scenario.Trace]
	refused []int          // the events that end an acquire whose claim was refused
	timed   bool           // what the broker has can change by itself
	trouble error          // what went wrong with clients that does not matter to the run
}

// setUp notes what the broker has before the first action.
func (r *record) setUp(truth [lock.MaxLocks]monitor.Truth) {
	r.Setup = []scenario.TraceStep{{Action: scenario.Action{Kind: scenario.Step}, Truth: truth}}
}

// exchange notes the command and reply of the action at hand.
func (r *record) exchange(cmd *wire.Command, m amqp.Command, reply amqp.Reply) {
	sent := amqp.Sent{Command: m, Reply: reply, Names: r.names}
	r.Step.Exchange, r.Step.Payload, r.Step.Resource = m.Exchange(reply, true), sent, sent.Resource()
	r.Step.Command, r.Step.Reply = m.Words(r.names), reply.Words()
	if m.Method == amqp.NoMethod {
		r.Step.Command = cmd.Method.ID().String()
	}
}

// finish ends an action, and takes in which violations the monitor has seen.
func (r *run) finish() {
	rec := &r.record
	truth := r.truth
	if !r.design.Known() {
		truth = [lock.MaxLocks]monitor.Truth{}
	}
	rec.End(&truth)
	r.found(len(rec.Steps) - 1)
	if len(r.config.Own) > 0 {
		r.judgeOwn()
	}
}

// found takes in the violations seen since the last call, as far as the monitor can be believed.
func (r *run) found(step int) {
	r.record.Judged(&r.monitor, r.judgeable(), step)
}

// plain reports whether nothing has happened but steps.
func (r *record) plain() bool {
	return !slices.ContainsFunc(r.Steps, func(t scenario.TraceStep) bool { return t.Action.Kind != scenario.Step })
}

func (r *record) invoke(w *run, c uint8) {
	p := &w.clients[c-1]
	arg := p.arg
	if w.Numberless() && (p.op == lock.Verify || p.op == lock.Release) {
		arg = history.AnySlot
	}
	p.invoked = r.Add(history.Invocation(p.process, w.lockOf(c), p.op, arg, 0))
}

// maxExplanation is how much of an error's text is kept, in characters.
const maxExplanation = 200

// explain keeps what the target said of the call that has just ended in an error.
func (r *record) explain(said string) {
	if said == "" {
		return
	}
	if all := []rune(said); len(all) > maxExplanation {
		said = string(all[:maxExplanation]) + "…"
	}
	if r.errors == nil {
		r.errors = make(map[int]string)
	}
	r.errors[len(r.Events)-1] = said
}

func (r *record) complete(w *run, c uint8, res lock.Result) {
	p := &w.clients[c-1]
	if p.op == lock.Acquire && p.refused {
		r.refused = append(r.refused, len(r.Events))
	}
	if w.Numberless() {
		res.Slot = history.AnySlot
	}
	e := history.Completion(p.process, w.lockOf(c), p.op, res)
	if p.op == lock.Acquire && res.Held {
		e.Token = p.token
	}
	r.Add(e)
}
