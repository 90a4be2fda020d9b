package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// record is what is kept of an execution: its history always, its steps where somebody will read them.
type record struct {
	events     []history.Event
	silent     bool // not even that
	tracing    bool
	setup      []scenario.TraceStep
	steps      []scenario.TraceStep
	violations []scenario.Violation
	found      property.Set
	now        scenario.TraceStep
	sent       backend.Exchange // by the action at hand; Method is 0 where it sent nothing
	by         uint8            // the client of the action, where users' own properties look at it
}

func (r *record) reset() {
	r.events, r.setup, r.steps, r.violations = r.events[:0], r.setup[:0], r.steps[:0], r.violations[:0]
	r.found = 0
}

// setUp notes a command from before the first action.
func (r *record) setUp(w *World, c uint8, x backend.Exchange) {
	if r.tracing {
		step := scenario.TraceStep{Action: scenario.Action{Kind: scenario.Step, Client: c}, Exchange: x}
		w.cluster.Describe(&step)
		r.setup = append(r.setup, step)
	}
}

// furnished notes what the servers have before the first action.
func (r *record) furnished(truth [lock.MaxLocks]monitor.Truth) {
	if r.tracing {
		r.setup[len(r.setup)-1].Truth = truth
	}
}

// begin and end bracket an action.
func (r *record) begin(a scenario.Action) {
	if r.tracing {
		r.now = scenario.TraceStep{Action: a, First: len(r.events)}
	}
}

func (r *record) end(w *World) {
	if !r.tracing {
		return
	}
	r.now.Time, r.now.Events, r.now.Truth = w.now, len(r.events)-r.now.First, w.truth
	r.steps = append(r.steps, r.now)
	r.judge(w, len(r.steps)-1)
}

// judge notes which properties were found violated since the last step.
func (r *record) judge(w *World, step int) {
	for _, v := range w.Monitor.TakeNew() {
		r.violations = append(r.violations, scenario.Violation{Violation: v, Step: step})
	}
}

// exchange notes the command and reply of the action at hand.
func (r *record) exchange(w *World, x *backend.Exchange) {
	r.sent = *x
	if r.tracing {
		r.now.Exchange = *x
		w.cluster.Describe(&r.now)
	}
}

func (r *record) invoke(w *World, c uint8, op lock.Op, arg uint8) {
	if r.silent {
		return
	}
	e := history.Event{Time: w.now * 1e6, Process: w.clients[c-1].process, Lock: uint16(w.lockOf(c)), Type: history.Invoke, F: history.F(op)}
	switch op {
	case lock.Verify, lock.Release, lock.Wait:
		e.Slot = uint16(arg)
	case lock.Create, lock.Add, lock.Remove:
		e.Slots = uint16(arg)
	}
	w.clients[c-1].invoked = len(r.events)
	r.events = append(r.events, e)
}

// move has an acquire that opens a connection on its way belong to that one: what it is granted goes
// with it.
func (r *record) move(w *World, c uint8) {
	if cl := &w.clients[c-1]; !r.silent && cl.busy && w.cluster.Op(c) == lock.Acquire {
		cl.process = w.process(c, cl.incarnation)
		r.events[cl.invoked].Process = cl.process
	}
}

var eventTypes = [...]history.EventType{lock.Done: history.OK, lock.Failed: history.Fail, lock.Unknown: history.Info}

func (r *record) complete(w *World, c uint8, op lock.Op, res lock.Result) {
	if r.silent {
		return
	}
	cl := &w.clients[c-1]
	r.events = append(r.events, history.Event{
		Time: w.now * 1e6, Process: cl.process, Lock: uint16(w.lockOf(c)), Type: eventTypes[res.Outcome],
		F: history.F(op), Slot: uint16(res.Slot), Slots: uint16(res.Slots), Held: res.Held, Reason: res.Reason,
	})
}

// world notes an occurrence that is no client's doing.
func (r *record) world(w *World, f history.F, process int32) {
	if r.silent {
		return
	}
	r.events = append(r.events, history.Event{Time: w.now * 1e6, Process: history.Nemesis, Target: process, Type: history.Info, F: f})
}
