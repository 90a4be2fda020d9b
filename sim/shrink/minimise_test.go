package shrink_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/shrink"
)

// TestMinimise: two actions of a scenario, in their order, cause the violation. Only these two are left, with the
// clients that they need.
func TestMinimise(t *testing.T) {
	s := scenario.Scenario{
		Target: "semaphore", Options: amqplock.DefaultOptions(),
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 3}, {Name: "other", Slots: 1}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay},
	}
	for range 4 {
		s.Clients = append(s.Clients, scenario.Client{Ops: make([]scenario.Operation, 3)})
	}
	for i := range 60 {
		s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Step, Client: uint8(1 + i%4)})
	}
	s.Schedule.Actions[20] = scenario.Action{Kind: scenario.CrashBefore, Client: 1, Late: true}
	s.Schedule.Actions[41] = scenario.Action{Kind: scenario.Restart}
	var err error
	if s.Options, err = s.Options.With("pipeline", "4"); err != nil {
		t.Fatal(err)
	}
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		actions := s.Schedule.Actions
		crash := slices.IndexFunc(actions, func(a scenario.Action) bool { return a.Kind == scenario.CrashBefore })
		restart := slices.IndexFunc(actions, func(a scenario.Action) bool { return a.Kind == scenario.Restart })
		if crash < 0 || restart < crash {
			return nil, false
		}
		return actions[:restart+1], true
	}
	least := shrink.Minimise(t.Context(), s, attempt, func(string) bool { return true }, 10_000)
	want := []scenario.Action{{Kind: scenario.CrashBefore, Client: 1}, {Kind: scenario.Restart}}
	if !slices.Equal(least.Schedule.Actions, want) {
		t.Errorf("actions left: %v", least.Schedule.Actions)
	}
	if len(least.Clients) != 1 || len(least.Clients[0].Ops) != 0 || len(least.Locks) != 1 || least.Locks[0].Slots != 0 {
		t.Errorf("left: clients %v, locks %v", least.Clients, least.Locks)
	}
	if left := least.Options.Changed(); len(left) != 0 {
		t.Errorf("options left: %v", left)
	}
}

// TestMinimiseWhateverIsShown: attempts have random results. Minimise still returns the smallest scenario that showed
// the violation, or the original one.
func TestMinimiseWhateverIsShown(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := scenario.Scenario{Options: amqplock.DefaultOptions(), Locks: make([]scenario.Lock, 2), Clients: make([]scenario.Client, 3)}
		for c := range s.Clients {
			s.Clients[c].Ops = make([]scenario.Operation, 1+r.IntN(3))
		}
		for range 1 + r.IntN(12) {
			s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{
				Kind: scenario.ActionKind(r.IntN(6)), Client: uint8(1 + r.IntN(3)), Arg: uint32(r.IntN(9)), Late: r.IntN(2) == 0,
			})
		}
		least := len(s.Schedule.Actions)
		left := shrink.Minimise(t.Context(), s, func(s *scenario.Scenario) ([]scenario.Action, bool) {
			shown, taken := r.IntN(3) == 0, s.Schedule.Actions[:r.IntN(len(s.Schedule.Actions)+1)]
			if shown {
				least = min(least, len(s.Schedule.Actions))
			}
			return taken, shown
		}, func(string) bool { return r.IntN(2) == 0 }, 400)
		if n := len(left.Schedule.Actions); n != least {
			t.Errorf("seed %d: %d actions are left of %d, where %d were shown", seed, n, len(s.Schedule.Actions), least)
		}
	}
}

// TestMinimiseKeepsFixedOptions: Minimise does not change an option that free excludes.
func TestMinimiseKeepsFixedOptions(t *testing.T) {
	s := scenario.Scenario{Options: amqplock.DefaultOptions(), Clients: make([]scenario.Client, 1), Schedule: scenario.Schedule{Actions: []scenario.Action{{Kind: scenario.Restart}}}}
	s.Options = amqplock.Table.Edit(s.Options, func(o *amqplock.Options) { o.Order = amqplock.Ascending })
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) { return s.Schedule.Actions, true }
	least := shrink.Minimise(t.Context(), s, attempt, func(name string) bool { return name != "order" }, 100)
	if amqplock.Table.Of(least.Options).Order != amqplock.Ascending {
		t.Error("the fixed option was changed")
	}
}

// TestMinimiseEndsEarly: after its context has ended, Minimise tries nothing more, and returns the smallest scenario
// found so far.
func TestMinimiseEndsEarly(t *testing.T) {
	s := scenario.Scenario{Options: amqplock.DefaultOptions(), Clients: make([]scenario.Client, 1), Schedule: scenario.Schedule{Strategy: scenario.Replay}}
	for range 60 {
		s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Step, Client: 1})
	}
	ctx, stop := context.WithCancel(t.Context())
	tried, smallest := 0, len(s.Schedule.Actions)
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		if tried++; tried == 4 {
			stop()
		}
		smallest = min(smallest, len(s.Schedule.Actions))
		return s.Schedule.Actions, true
	}
	least := shrink.Minimise(ctx, s, attempt, func(string) bool { return true }, 10_000)
	if tried != 4 || len(least.Schedule.Actions) != smallest || smallest == 60 {
		t.Errorf("%d scenarios tried, %d actions left, the least tried has %d", tried, len(least.Schedule.Actions), smallest)
	}
}

// TestMinimiseKeepsWhatFollows: Minimise removes actions after the violation only if the violation then still occurs.
func TestMinimiseKeepsWhatFollows(t *testing.T) {
	s := scenario.Scenario{Options: amqplock.DefaultOptions(), Clients: make([]scenario.Client, 1), Schedule: scenario.Schedule{Strategy: scenario.Replay}}
	for range 20 {
		s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Step, Client: 1})
	}
	s.Schedule.Actions[4].Kind, s.Schedule.Actions[15].Kind = scenario.CrashBefore, scenario.Restart
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) { // shown at the crash, if a restart follows it
		actions := s.Schedule.Actions
		crash := slices.IndexFunc(actions, func(a scenario.Action) bool { return a.Kind == scenario.CrashBefore })
		restart := slices.IndexFunc(actions, func(a scenario.Action) bool { return a.Kind == scenario.Restart })
		return actions[:crash+1], crash >= 0 && restart > crash
	}
	least := shrink.Minimise(t.Context(), s, attempt, func(string) bool { return false }, 1000)
	if _, shown := attempt(&least); !shown || len(least.Schedule.Actions) != 2 {
		t.Errorf("shown %v by %v", shown, least.Schedule.Actions)
	}
}
