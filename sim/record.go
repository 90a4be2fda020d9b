package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// record stores an execution: always the history and, if requested, the steps.
type record struct {
	execution.Record
	silent  bool // record nothing, not even the history
	tracing bool
	sent    backend.Exchange // command of the current action; Method is 0 if it sent none
	by      uint8            // client of the current action; custom properties can ask for it
}

// setUp records a command that the setup sends before the first action.
func (r *record) setUp(w *World, c uint8, x backend.Exchange) {
	if r.tracing {
		step := scenario.TraceStep{Action: scenario.Action{Kind: scenario.Step, Client: c}, Exchange: x}
		w.cluster.Describe(&step)
		r.Setup = append(r.Setup, step)
	}
}

// initial records the servers' state before the first action.
func (r *record) initial(truth [lock.MaxLocks]monitor.Truth) {
	if r.tracing {
		r.Setup[len(r.Setup)-1].Truth = truth
	}
}

// begin starts the recording of an action, and end completes it.
func (r *record) begin(a scenario.Action) {
	if r.tracing {
		r.Begin(a)
	}
}

func (r *record) end(w *World) {
	if r.tracing {
		r.End(&w.truth)
		r.Judged(&w.Monitor, ^property.Set(0), len(r.Steps)-1)
	}
}

// exchange records the command of the current action and its reply.
func (r *record) exchange(w *World, x *backend.Exchange) {
	r.sent = *x
	if r.tracing {
		r.Step.Exchange = *x
		w.cluster.Describe(&r.Step)
	}
}

// answered adds to the current step the reply to a command that has waited in the server.
func (r *record) answered(w *World) {
	if k, ok := w.cluster.(Answering); ok && r.tracing {
		k.DescribeAnswer(&r.Step)
	}
}

func (r *record) invoke(w *World, c uint8, op lock.Op, arg uint8) {
	if !r.silent {
		cl := &w.clients[c-1]
		if w.unnumbered() && (op.AsksHeld() || op == lock.Release) {
			arg = 0
		}
		cl.invoked = r.Add(history.Invocation(cl.process, w.lockOf(c), op, arg, w.target.Traits))
	}
}

// unnumbered reports whether histories leave out slot numbers. They do if the cluster numbers the lock's permits
// itself.
func (w *World) unnumbered() bool { return w.target.Traits.Has(lock.Permits) }

// move is called when a client has opened a new connection. If it has an acquire under way, the acquire's invocation is
// assigned to the process of the new connection, since a grant will belong to that connection.
func (r *record) move(w *World, c uint8) {
	if cl := &w.clients[c-1]; !r.silent && cl.busy && w.cluster.Op(c) == lock.Acquire {
		cl.process = w.process(c, cl.incarnation)
		r.Events[cl.invoked].Process = cl.process
	}
}

func (r *record) complete(w *World, c uint8, op lock.Op, res lock.Result) {
	if w.unnumbered() {
		res.Slot = 0
	}
	if !r.silent {
		r.Add(history.Completion(w.clients[c-1].process, w.lockOf(c), op, res))
	}
}

// world records an event that is not caused by an operation, such as a crash or the end of a session.
func (r *record) world(f history.F, process int32) {
	if !r.silent {
		r.Add(history.Occurrence(f, process))
	}
}
