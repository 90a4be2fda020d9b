package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// record is what is kept of a run.
type record struct {
	names      *amqp.Names // that commands speak of
	events     []history.Event
	setup      []scenario.TraceStep
	steps      []scenario.TraceStep
	violations []scenario.Violation
	errors     map[int]string // those of [scenario.Trace]
	refused    []int          // the events that end an acquire whose claim was refused
	now        scenario.TraceStep
	timed      bool  // what the broker has can change by itself
	trouble    error // what went wrong with clients that does not matter to the run
}

// setUp notes what the broker has before the first action.
func (r *record) setUp(truth [lock.MaxLocks]monitor.Truth) {
	r.setup = []scenario.TraceStep{{Action: scenario.Action{Kind: scenario.Step}, Truth: truth}}
}

// begin begins an action, at a virtual time.
func (r *record) begin(a scenario.Action, now int64) {
	r.now = scenario.TraceStep{Action: a, Time: now, First: len(r.events)}
}

// exchange notes the command and reply of the action at hand.
func (r *record) exchange(cmd *wire.Command, m amqp.Command, reply amqp.Reply) {
	sent := amqp.Sent{Command: m, Reply: reply, Names: r.names}
	r.now.Exchange, r.now.Payload, r.now.Resource = m.Exchange(reply, true), sent, sent.Resource()
	r.now.Command, r.now.Reply = m.Words(r.names), reply.Words()
	if m.Method == amqp.NoMethod {
		r.now.Command = cmd.Method.ID().String()
	}
}

// finish ends an action, and takes in which violations the monitor has seen.
func (r *run) finish() {
	rec := &r.record
	rec.now.Time, rec.now.Events, rec.now.Truth = r.now, len(rec.events)-rec.now.First, r.truth
	if !r.design.known() {
		rec.now.Truth = [lock.MaxLocks]monitor.Truth{}
	}
	rec.steps = append(rec.steps, rec.now)
	r.found(len(rec.steps) - 1)
	if len(r.config.Own) > 0 {
		r.judgeOwn()
	}
}

// found takes in the violations seen since the last call, as far as the monitor can be believed.
func (r *run) found(step int) {
	for _, v := range r.monitor.TakeNew() {
		if r.judgeable().Has(v.Property) {
			r.record.violations = append(r.record.violations, scenario.Violation{Violation: v, Step: step})
		}
	}
}

// plain reports whether nothing has happened but steps.
func (r *record) plain() bool {
	return !slices.ContainsFunc(r.steps, func(t scenario.TraceStep) bool { return t.Action.Kind != scenario.Step })
}

func (r *record) invoke(w *run, c uint8) {
	p := &w.clients[c-1]
	e := history.Event{
		Time: w.now * 1e6, Process: p.process, Lock: uint16(w.sc.Clients[c-1].Lock), Type: history.Invoke, F: history.F(p.op),
	}
	switch p.op {
	case lock.Verify, lock.Release, lock.Wait:
		e.Slot = uint16(p.arg)
	case lock.Create, lock.Add, lock.Remove:
		e.Slots = uint16(p.arg)
	}
	p.invoked = len(r.events)
	r.events = append(r.events, e)
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
	r.errors[len(r.events)-1] = said
}

var eventTypes = [...]history.EventType{lock.Pending: history.Info, lock.Done: history.OK, lock.Failed: history.Fail, lock.Unknown: history.Info}

func (r *record) complete(w *run, c uint8, res lock.Result) {
	p := &w.clients[c-1]
	if p.op == lock.Acquire && p.refused {
		r.refused = append(r.refused, len(r.events))
	}
	r.events = append(r.events, history.Event{
		Time: w.now * 1e6, Process: p.process, Lock: uint16(w.sc.Clients[c-1].Lock), Type: eventTypes[res.Outcome],
		F: history.F(p.op), Slot: uint16(res.Slot), Slots: uint16(res.Slots), Held: res.Held, Reason: res.Reason,
	})
}
