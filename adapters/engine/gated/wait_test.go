package gated_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// runnerOf returns a runner for locks in this process.
func runnerOf(t *testing.T, kind lock.Kind, timing foreign.Timing, open func(ctx context.Context, url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Kind: kind, Timing: timing, Starter: inprocess.Starter{Name: t.Name(), New: open}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// waiting returns a runner for mutexes whose clients can wait for the lock. After limit, a client counts as waiting
// forever.
func waiting(t *testing.T, design mutexes.Design, limit time.Duration) *foreign.Runner {
	t.Helper()
	return runnerOf(t, lock.Mutex, foreign.Timing{Limit: limit}, func(ctx context.Context, url string) (inprocess.Lock, error) {
		return mutexes.New(ctx, url, design)
	})
}

// contest is a scenario of two clients. The first has higher priority for the given number of steps; the second waits
// for the lock.
func contest(stops uint16, holder ...scenario.Operation) scenario.Scenario {
	return scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Clients:  []scenario.Client{{Ops: holder}, {Ops: []scenario.Operation{{Op: lock.Acquire, Arg: scenario.Waiting}}}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}, Changes: []uint16{stops}},
	}
}

// TestWaiting checks that other clients continue while a client waits for the lock. The waiting client must be granted
// a lock that is released meanwhile. A replay must show the same.
func TestWaiting(t *testing.T) {
	t.Parallel()
	acquire, release := scenario.Operation{Op: lock.Acquire}, scenario.Operation{Op: lock.Release}
	runner := waiting(t, mutexes.Token{Subscribed: true}, time.Minute)
	granted, controlled := 0, 0
	for stops := range uint16(24) {
		x, again, free := twice(t, runner, contest(1+stops, acquire, release))
		if (x.Found|again.Found)&wrong != 0 {
			t.Errorf("stops after %d: %v %v", stops, x.Violations, again.Violations)
		}
		if !free {
			continue
		}
		controlled++
		if !slices.Equal(told(x), told(again)) {
			t.Errorf("stops after %d: %v, replayed %v (%+v)", stops, told(x), told(again), again.Uncontrolled)
		}
		if slices.Equal(told(x), []string{"1 invoke acquire", "1 ok acquire", "2 invoke acquire", "1 invoke release", "1 ok release", "2 ok acquire"}) {
			granted++
		}
	}
	if controlled == 0 || granted == 0 && controlled == 24 {
		t.Errorf("nobody was granted what he waited for, in %d executions that their schedules decided", controlled)
	}
}

// twice runs a scenario and replays it. It tries up to three times until the schedule decided everything in both runs,
// and free says whether it did. On a busy machine a client may be late, so that chance decides about the order.
func twice(t *testing.T, runner *foreign.Runner, sc scenario.Scenario) (x, again *foreign.Execution, free bool) {
	t.Helper()
	for range 3 {
		x = play(t, runner, runner.Playable(sc))
		again = play(t, runner, sim.Replay(x.Trace))
		if free = x.Uncontrolled.Free() && again.Uncontrolled.Free() && again.Uncontrolled.Unplayed == 0; free {
			break
		}
	}
	return x, again, free
}

func play(t *testing.T, runner *foreign.Runner, sc scenario.Scenario) *foreign.Execution {
	t.Helper()
	x, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// told lists the events before the audit, one line for each call and answer.
func told(x *foreign.Execution) (lines []string) {
	events := x.History.Events
	if i := slices.IndexFunc(x.Steps, func(s scenario.TraceStep) bool { return s.Action.Kind == scenario.Audit }); i >= 0 {
		events = events[:x.Steps[i].First]
	}
	for _, e := range events {
		if e.Process == history.Nemesis {
			continue
		}
		c := history.ClientOf(e.Process, len(x.Scenario.Clients))
		lines = append(lines, string(rune('0'+c))+" "+e.Type.String()+" "+e.F.Op().String())
	}
	return lines
}

// TestTimePassesBeforeReply lets time pass while a client's reply is held back and no other client exists. The client
// must not be blamed because its operation does not end meanwhile.
func TestTimePassesBeforeReply(t *testing.T) {
	t.Parallel()
	runner := waiting(t, mutexes.Queue{}, time.Minute)
	x := play(t, runner, runner.Playable(scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs"}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire, Arg: scenario.Waiting}}}},
		Faults:  []scenario.Fault{{Do: scenario.Stall, Client: 1, At: 1, Delay: 8}, {Do: scenario.Advance, At: 2}},
	}))
	if x.Found&wrong != 0 || len(x.Steps) < 2 {
		t.Errorf("%d steps: %v", len(x.Steps), x.Violations)
	}
}
