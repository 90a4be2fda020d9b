package gated_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// TestLateFaults: a fault that is late happens just before its client, which holds the lock, begins the operation that
// the fault waits for. Then another client acquires the lock, before the operation is called. The execution replays.
func TestLateFaults(t *testing.T) {
	t.Parallel()
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	for name, c := range map[string]struct {
		fault  scenario.Fault
		happen []scenario.ActionKind
		before lock.Op
	}{
		"drop":   {scenario.Fault{Do: scenario.Drop}, []scenario.ActionKind{scenario.Drop, scenario.Pause}, r},
		"arrive": {scenario.Fault{Do: scenario.Arrive}, []scenario.ActionKind{scenario.Drop, scenario.Arrive, scenario.Pause}, v},
		"pause":  {scenario.Fault{Do: scenario.Pause, Arg: scenario.Asleep + 20}, []scenario.ActionKind{scenario.Pause, scenario.Idle}, v},
		"pause that is noticed": {
			scenario.Fault{Do: scenario.Pause, Arg: scenario.Asleep + 5020},
			[]scenario.ActionKind{scenario.Pause, scenario.Idle, scenario.Idle, scenario.Pause}, v,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner := runnerOf(t, lock.Mutex, foreign.Timing{}, func(ctx context.Context, url string) (inprocess.Lock, error) {
				return mutexes.New(ctx, url, mutexes.Queue{})
			})
			c.fault.Client, c.fault.At, c.fault.Late = 1, 1, true
			x := play(t, runner, runner.Playable(scenario.Scenario{
				Locks:    []scenario.Lock{{Name: "jobs"}},
				Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: v}, {Op: r}}}, {Ops: []scenario.Operation{{Op: a}}}},
				Faults:   []scenario.Fault{c.fault},
				Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
			}))
			if again := play(t, runner, sim.Replay(x.Trace)); again.Found != x.Found {
				t.Errorf("%v, replayed %v", x.Violations, again.Violations)
			}
			at := slices.IndexFunc(x.Steps, func(s scenario.TraceStep) bool { return s.Action.Kind == c.happen[0] })
			for i, kind := range c.happen {
				if at < 0 || x.Steps[at+i].Action.Kind != kind {
					t.Fatalf("at step %d, expected %v:\n%v", at, c.happen, x.Steps)
				}
			}
			last := at + len(c.happen)
			called := func(client int, op lock.Op, from, to int) bool {
				return slices.ContainsFunc(x.Steps[from:to], func(s scenario.TraceStep) bool {
					return slices.ContainsFunc(x.History.Events[s.First:s.First+s.Events], func(e history.Event) bool {
						return e.Type == history.Invoke && history.ClientOf(e.Process, 2) == client && e.F.Op() == op
					})
				})
			}
			next := last + slices.IndexFunc(x.Steps[last:], func(s scenario.TraceStep) bool { return s.Action.Client == 1 })
			if !called(1, a, 0, at) || called(1, c.before, 0, last) || !called(2, a, last, next) || !called(1, c.before, next, len(x.Steps)) {
				t.Errorf("the fault begins at step %d, and its client goes on at %d:\n%v", at, next, x.Steps)
			}
		})
	}
}

// TestLateFaultsUnplayed: late faults whose moment never comes are counted, and so is a fault that another one of the
// same client replaces.
func TestLateFaultsUnplayed(t *testing.T) {
	t.Parallel()
	runner := runnerOf(t, lock.Mutex, foreign.Timing{}, func(ctx context.Context, url string) (inprocess.Lock, error) {
		return mutexes.New(ctx, url, mutexes.Queue{})
	})
	drop := scenario.Fault{Do: scenario.Drop, Client: 1, At: 1, Late: true}
	for n := range 3 {
		for last, ops := range [][]scenario.Operation{{{Op: lock.Acquire}, {Op: lock.Release}}, {{Op: lock.Acquire}}} {
			x := play(t, runner, runner.Playable(scenario.Scenario{
				Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}},
				Faults:   slices.Repeat([]scenario.Fault{drop}, n),
				Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1}},
			}))
			if want := max(0, n-1+last) * min(n, 1); x.Uncontrolled.Unplayed != want {
				t.Errorf("%d faults, %v: %d not played, expected %d", n, ops, x.Uncontrolled.Unplayed, want)
			}
		}
	}
}
