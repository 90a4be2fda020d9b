package shrink_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/shrink"
)

// TestPinned compares minimised random scenarios with a file, for random conditions of a violation: the actions that
// are left, and the number of scenarios tried. The first result of each block is there in full.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for seed := range uint64(10) {
		f.Block("scenarios", 30, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			first := randomScenario(r)
			rule := newRule(r, &first)
			tried := 0
			attempt := func(c *scenario.Scenario) ([]scenario.Action, bool) {
				tried++
				actions, shown := rule.shown(c)
				if tried == rule.over {
					rule.cancel()
				}
				s.Printf("%s %v %d|", written(t, c), shown, len(actions))
				return actions, shown
			}
			fixed := r.IntN(2) == 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%10 == 9 { // the context ends during the minimisation
				rule.over, rule.cancel = 1+r.IntN(40), cancel
			}
			least := shrink.Minimise(ctx, first, attempt, func(name string) bool { return !fixed || name != "order" }, []int{20, 200, 1500}[r.IntN(3)])
			s.Rowf("%d: %d tried, %d clients, %d slots, %v", i, tried, len(least.Clients), least.Locks[0].Slots, least.Schedule.Actions)
			if i == 0 {
				s.Rowf("   %s", written(t, &least))
			} else {
				s.Printf("%s", written(t, &least))
			}
			if len(least.Schedule.Actions) < len(first.Schedule.Actions) {
				s.Count("smaller")
			}
		})
	}
	f.Compare("testdata/pinned.txt")
}

// written returns a scenario as JSON, as in files.
func written(t *testing.T, s *scenario.Scenario) []byte {
	t.Helper()
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// randomScenario returns a random scenario with parts of every kind that can be removed.
func randomScenario(r *rand.Rand) scenario.Scenario {
	s := sim.NewSource(sim.Space{Target: amqplock.References[r.IntN(3)]}, 71).Scenario(r.IntN(500))
	s.Faults, s.Schedule = nil, scenario.Schedule{Strategy: scenario.Replay}
	if r.IntN(3) == 0 {
		s.Options = amqplock.Table.Edit(s.Options, func(o *amqplock.Options) { o.Order, o.VerifyFirst = amqplock.Ascending, false })
	}
	dos := []scenario.ActionKind{
		scenario.CrashBefore, scenario.CrashEffect, scenario.Drop, scenario.ChannelError, scenario.Lose, scenario.Pause, scenario.Advance, scenario.Restart,
		scenario.Detect, scenario.Choose,
	}
	if n := len(s.Clients); n > 1 && r.IntN(3) == 0 { // two clients in one process
		s.Clients[r.IntN(n-1)].With = uint8(n)
	}
	if r.IntN(4) == 0 {
		for i := range s.Locks {
			s.Locks[i].Missing = scenario.SlotSet(r.IntN(4)) &^ 1 & (1<<s.Locks[i].Slots - 1)
		}
	}
	client := uint8(1)
	for range 6 + r.IntN(20) {
		if r.IntN(3) == 0 {
			client = uint8(1 + r.IntN(len(s.Clients)))
		}
		a := scenario.Action{Kind: scenario.Step, Client: client}
		if r.IntN(4) == 0 {
			a.Kind, a.Late, a.Arg = dos[r.IntN(len(dos))], r.IntN(2) == 0, uint32(r.IntN(4)*r.IntN(90))
			if a.Kind == scenario.Restart || a.Kind == scenario.Advance {
				a.Client, a.Late = 0, false
			}
		}
		s.Schedule.Actions = append(s.Schedule.Actions, a)
	}
	return s
}

// rule says when a scenario shows the violation. It must have certain actions in order, a number of clients, and
// perhaps part of the workload.
type rule struct {
	order   []scenario.Action
	clients int
	slots   int
	calls   int
	option  bool
	follows int // number of actions that must follow the last of order
	over    int // number, from 1, of the attempt at which the context ends; 0 means never
	cancel  func()
}

func newRule(r *rand.Rand, s *scenario.Scenario) *rule {
	out := &rule{clients: r.IntN(len(s.Clients) + 1), slots: r.IntN(int(s.Locks[0].Slots) + 1), option: amqplock.Table.Of(s.Options).Order == amqplock.Ascending && r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		out.calls = len(s.Clients[0].Ops)/2 + 1
	}
	actions := s.Schedule.Actions
	for at := r.IntN(4); at < len(actions)-2; at += 1 + r.IntN(8) {
		out.order = append(out.order, actions[at])
	}
	out.follows = r.IntN(2)
	return out
}

// shown returns the actions up to the last one that the rule requires, and whether the scenario satisfies the rule.
func (k *rule) shown(s *scenario.Scenario) ([]scenario.Action, bool) {
	calls := 0
	for _, c := range s.Clients {
		calls = max(calls, len(c.Ops))
	}
	if len(s.Clients) < k.clients || len(s.Locks) == 0 || int(s.Locks[0].Slots) < k.slots || calls < k.calls || k.option && amqplock.Table.Of(s.Options).Order != amqplock.Ascending {
		return nil, false
	}
	actions, at := s.Schedule.Actions, 0
	for _, want := range k.order {
		n := slices.IndexFunc(actions[at:], func(a scenario.Action) bool { return a.Kind == want.Kind && a.Arg >= want.Arg/2 })
		if n < 0 {
			return nil, false
		}
		at += n + 1
	}
	return actions[:at], at+k.follows <= len(actions)
}
