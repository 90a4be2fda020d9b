package nearest

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Well is an execution without a violation, which Find compares with a violating one.
type Well struct {
	Trace *scenario.Trace
	// Parts is the index, from 0, of the first step that differs from the violating execution.
	Parts int
}

// maxTries is the largest number of executions tried. maxStepsAfter is the largest number of steps of each after the
// shared prefix.
const (
	maxTries      = 4000
	maxStepsAfter = 400
)

// Find looks for an execution without a violation. It has the same target and workload as trace t, and shares the
// longest prefix with it. shows is the index, from 0, of the step of t that shows a violation. After the shared prefix,
// the execution has no faults. Find returns nil if every execution that it tries violates something.
func Find(target *lock.Target, t *scenario.Trace, shows int, failedAcquire property.FailedAcquire) *Well {
	f := finder{target: target, judged: property.Of(target), t: t, failedAcquire: failedAcquire, left: maxTries, start: t.Scenario}
	f.start.Faults, f.start.Schedule = nil, scenario.Schedule{Strategy: scenario.Replay}
	for at := min(shows, len(t.Steps)-1); at >= 0; at-- {
		if trace := f.from(at); trace != nil {
			return &Well{Trace: trace, Parts: at}
		}
	}
	return nil
}

// finder is the state of a call of [Find]. left is the number of executions that may still be tried.
type finder struct {
	target        *lock.Target
	judged        property.Set
	t             *scenario.Trace
	failedAcquire property.FailedAcquire
	start         scenario.Scenario
	left          int
	runner        sim.Runner
}

// from tries executions that share the steps before step at and then differ. It returns the first one without a
// violation, or nil.
func (f *finder) from(at int) *scenario.Trace {
	f.begin(at)
	for _, other := range f.ways() {
		if other == f.t.Steps[at].Action {
			continue
		}
		for _, turns := range []bool{false, true} {
			if trace := f.try(at, other, turns); trace != nil {
				return trace
			}
		}
	}
	return nil
}

// begin starts a new execution and executes the steps of the trace before step at.
func (f *finder) begin(at int) {
	f.runner.Begin(f.target, &f.start)
	for i := range at {
		if a := f.t.Steps[i].Action; f.runner.Can(a) { // Can skips operations that make no sense, as a replay does
			f.runner.Do(a)
		}
	}
}

// ways returns the possible next actions, without faults. These are the clients' actions. If no client can act, it is
// the detection of a dead client. If there is no dead client to detect either, it is the passing of time until the next
// timer.
func (f *finder) ways() (all []scenario.Action) {
	w := &f.runner.World
	for c := range f.start.Clients {
		all = append(all, moves(w, uint8(c+1))...)
	}
	if len(all) > 0 {
		return all
	}
	if c := w.Undetected(); c > 0 {
		return []scenario.Action{{Kind: scenario.Detect, Client: c}}
	}
	if wake := w.Wake(); wake > 0 {
		return []scenario.Action{{Kind: scenario.Advance, Arg: uint32(min(wake, 1<<16-1))}}
	}
	return nil
}

// moves returns the possible next actions of client c, on each of its links.
func moves(w *sim.World, c uint8) (all []scenario.Action) {
	if !w.Ready(c) {
		return nil
	}
	for i := range w.Ways(c) {
		all = append(all, scenario.Action{Kind: scenario.Choose, Client: c, Arg: uint32(i)})
	}
	for link := range uint32(8) {
		if a := (scenario.Action{Kind: scenario.Step, Client: c, Arg: link}); w.Can(a) {
			all = append(all, a)
		}
	}
	return all
}

// try returns an execution that shares the steps before step at, then executes the action first, and continues until no
// action is left. It returns nil if the execution violates something, becomes too long, or exceeds the number of tries.
// If turns is set, clients take turns; otherwise one client continues as long as it can.
func (f *finder) try(at int, first scenario.Action, turns bool) *scenario.Trace {
	if f.left == 0 {
		return nil
	}
	f.left--
	f.begin(at)
	s := f.start
	for i := range at {
		s.Schedule.Actions = append(s.Schedule.Actions, f.t.Steps[i].Action)
	}
	for a, more := first, true; more; a, more = f.next(a, turns) {
		f.runner.Do(a)
		s.Schedule.Actions = append(s.Schedule.Actions, a)
		if len(s.Schedule.Actions) > at+maxStepsAfter || f.runner.Monitor.Found&f.judged != 0 {
			return nil
		}
	}
	if trace := f.runner.Trace(f.target, &s, f.failedAcquire); len(trace.Violations) == 0 {
		return trace
	}
	return nil
}

// next returns the action to execute after last, or false if no action is left. For turns, see try.
func (f *finder) next(last scenario.Action, turns bool) (scenario.Action, bool) {
	ways := f.ways()
	if len(ways) == 0 {
		return scenario.Action{}, false
	}
	for _, a := range ways {
		if turns && a.Client > last.Client || !turns && a.Client == last.Client {
			return a, true
		}
	}
	return ways[0], true
}
