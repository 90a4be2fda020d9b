package sim

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Runner runs scenarios one after the other, and reuses the memory of the simulation. It is not safe for concurrent
// use.
type Runner struct {
	World
	plan scenario.Plan
}

// Begin sets up the initial state of a scenario. The caller then executes actions with [World.Can] and [World.Do],
// independently of the scenario's schedule.
func (r *Runner) Begin(target *lock.Target, s *scenario.Scenario) {
	r.reset(target, s)
	r.plan.Reset(s)
}

// Run executes a scenario and returns the number of its steps. Until the next run, Monitor and History have the
// results. Run does not judge properties that need the whole history; see [Runner.Judge].
func (r *Runner) Run(target *lock.Target, s *scenario.Scenario) int {
	r.Begin(target, s)
	steps, limit := 0, s.StepLimit()
	for steps < limit {
		a, ok := r.plan.Next(&r.World)
		if !ok {
			break
		}
		if r.Can(a) {
			r.Do(a)
			steps++
		}
		if steps > 0 && steps == s.Schedule.Before {
			r.judgeFromHere()
		}
	}
	if steps == limit || r.quiet() {
		r.audit()
	}
	r.record.Judged(&r.Monitor, ^property.Set(0), steps)
	return steps
}

// judgeFromHere discards the violations found so far.
func (w *World) judgeFromHere() {
	w.Monitor.TakeNew()
	w.Monitor.Found, w.record.Violations = 0, w.record.Violations[:0]
}

// Begun returns the number of operations that a client has invoked.
func (w *World) Begun(c uint8) int { return int(w.clients[c-1].next) }

// Dead reports whether a client has crashed.
func (w *World) Dead(c uint8) bool { return w.clients[c-1].dead }

// quiet reports whether no client can take a step now, and the broker has no dead connection to detect.
func (w *World) quiet() bool {
	for i := range w.clients {
		if w.unfinished(uint8(i + 1)) {
			return false
		}
	}
	return len(w.halfOpen) == 0
}

// History returns the history of the current execution. Its events are valid until the next run.
func (w *World) History() history.History {
	h := history.History{Kind: w.target.Kind, Locks: w.locks, Clients: len(w.clients), Events: w.record.Events, GoneMayFree: w.leases}
	for _, l := range w.scenario.Locks {
		h.Slots = append(h.Slots, int(l.Slots))
	}
	return h
}
