package shrink

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestWeigh: weigh counts each part of a scenario.
func TestWeigh(t *testing.T) {
	s := scenario.Scenario{
		Options: amqplock.Table.Edit(amqplock.DefaultOptions(), func(o *amqplock.Options) { o.Order = amqplock.Ascending }),
		Locks:   []scenario.Lock{{Slots: 2}, {Slots: 1}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Add, Arg: 5}, {Op: lock.Verify}}}, {}, {}},
	}
	s.Schedule.Actions = []scenario.Action{
		{Kind: scenario.Step, Client: 1}, {Kind: scenario.Drop, Client: 1, Late: true}, {Kind: scenario.Step, Client: 3, Arg: 100}, {Kind: scenario.Restart},
	}
	const operations, arguments, slots, milliseconds = 2, 5, 3, 100
	if got, want := weigh(&s), [7]int{4, 3 + 2, 2, 1, 3, 1, operations + arguments + slots + milliseconds}; got != want {
		t.Errorf("it weighs %v, want %v", got, want)
	}
}

// TestLighter: each scenario in a list is smaller than the next one. Steps count most, then clients and locks, faults,
// late faults, context switches, unusual options, and numbers.
func TestLighter(t *testing.T) {
	step := func(c uint8) scenario.Action { return scenario.Action{Kind: scenario.Step, Client: c} }
	drop, late := scenario.Action{Kind: scenario.Drop, Client: 1}, scenario.Action{Kind: scenario.Drop, Client: 1, Late: true}
	of := func(clients int, actions ...scenario.Action) (s scenario.Scenario) {
		s.Options, s.Clients, s.Schedule.Actions = amqplock.DefaultOptions(), make([]scenario.Client, clients), actions
		return s
	}
	calling := func(ops ...scenario.Operation) scenario.Scenario {
		s := of(1, step(1), step(1))
		s.Clients[0].Ops = ops
		return s
	}
	slots, waiting, unusual, locks := calling(), calling(), of(1, step(1), step(1)), of(1, step(1), step(1))
	slots.Locks = []scenario.Lock{{Name: "jobs", Slots: 2}}
	locks.Locks = make([]scenario.Lock, 3)
	waiting.Schedule.Actions = []scenario.Action{step(1), {Kind: scenario.Step, Client: 1, Arg: 9}}
	unusual.Options = amqplock.Table.Edit(unusual.Options, func(o *amqplock.Options) { o.Order = amqplock.Ascending })
	order := []struct {
		name string
		scenario.Scenario
	}{
		{"nothing", of(0)},
		{"one step of three clients", of(3, step(1))},
		{"two steps", of(1, step(1), step(1))},
		{"an operation", calling(scenario.Operation{Op: lock.Acquire})},
		{"an operation with an argument", calling(scenario.Operation{Op: lock.Add, Arg: 1})},
		{"operations", calling(make([]scenario.Operation, 4)...)},
		{"a long time", waiting},
		{"unusual options", unusual},
		{"a context switch", of(1, step(1), step(2))},
		{"a fault", of(1, step(1), drop)},
		{"a fault of another", of(1, step(1), scenario.Action{Kind: scenario.Drop, Client: 2})},
		{"a late fault", of(1, step(1), late)},
		{"two faults", of(1, drop, drop)},
		{"another client", of(2, step(1), step(1))},
		{"three locks", locks},
		{"three steps of no client", of(0, step(1), step(1), step(1))},
	}
	for i := range order[1:] {
		m := minimiser{best: order[i+1].Scenario, cost: weigh(&order[i+1].Scenario)}
		if less := &order[i]; !m.lighter(&less.Scenario) {
			t.Errorf("%s is not less than %s", less.name, order[i+1].name)
		}
		if m.lighter(&m.best) {
			t.Errorf("%s is less than itself", order[i+1].name)
		}
	}
	m := minimiser{best: slots, cost: weigh(&slots)}
	if slots.Locks = []scenario.Lock{{Name: "jobs", Slots: 1}}; !m.lighter(&slots) {
		t.Error("one slot is not less than two")
	}
}

// TestTryCutsWhatIsSmaller: try removes the actions after the violation from a candidate. It spends no attempt on this
// if the result would not be smaller than the best.
func TestTryCutsWhatIsSmaller(t *testing.T) {
	long := scenario.Scenario{Options: amqplock.DefaultOptions(), Clients: make([]scenario.Client, 1)}
	for range 6 {
		long.Schedule.Actions = append(long.Schedule.Actions, scenario.Action{Kind: scenario.Step, Client: 1})
	}
	for _, c := range []struct{ best, attempts, left int }{{2, 1, 2}, {3, 1, 3}, {5, 2, 3}} {
		best := long.Clone()
		best.Schedule.Actions = best.Schedule.Actions[:c.best]
		m := minimiser{ctx: t.Context(), best: best, cost: weigh(&best), left: 10,
			attempt: func(s *scenario.Scenario) ([]scenario.Action, bool) { return s.Schedule.Actions[:3], true }}
		m.try(long.Clone())
		if spent := 10 - m.left; spent != c.attempts || len(m.best.Schedule.Actions) != c.left {
			t.Errorf("the best has %d steps: %d attempts and %d steps, expected %d and %d", c.best, spent, len(m.best.Schedule.Actions), c.attempts, c.left)
		}
	}
}

// TestEdits: each edit makes the workload smaller by one client, one operation, one unit of an argument or one slot.
// One edit adds a long passing of time at the end.
func TestEdits(t *testing.T) {
	s := scenario.Scenario{
		Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 2}, {Name: "mails"}},
		Clients: []scenario.Client{
			{Ops: []scenario.Operation{{Op: lock.Add, Arg: 2}, {Op: lock.Remove, Arg: 1}}},
			{Ops: []scenario.Operation{{Op: lock.Acquire}}},
		},
		Schedule: scenario.Schedule{Actions: []scenario.Action{{Kind: scenario.Step, Client: 1}, {Kind: scenario.Step, Client: 2}}},
	}
	m := minimiser{best: s}
	var got []string
	for _, edit := range m.edits() {
		e := s.Clone()
		if !edit(&e) {
			got = append(got, "nothing")
			continue
		}
		text := ""
		for _, c := range e.Clients {
			text += fmt.Sprint(c.Ops)
		}
		for _, l := range e.Locks {
			text += fmt.Sprint(" ", l.Slots)
		}
		got = append(got, fmt.Sprint(text, " ", e.Schedule.Actions))
	}
	want := []string{
		"[{add 2 0} {remove 1 0}][{acquire 0 0}] 2 0 [step c1 step c2]",
		"[{acquire 0 0}] 2 0 [step c1]",
		"[{remove 1 0}][{acquire 0 0}] 2 0 [step c1 step c2]",
		"[{add 1 0} {remove 1 0}][{acquire 0 0}] 2 0 [step c1 step c2]",
		"[{add 2 0}][{acquire 0 0}] 2 0 [step c1 step c2]",
		"nothing",
		"[{add 2 0} {remove 1 0}] 2 0 [step c1]",
		"[{add 2 0} {remove 1 0}][] 2 0 [step c1 step c2]",
		"nothing",
		"[{add 2 0} {remove 1 0}][{acquire 0 0}] 2 0 [step c1 step c2 advance 512 ms]",
		"[{add 2 0} {remove 1 0}][{acquire 0 0}] 1 0 [step c1 step c2]",
		"nothing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	one := minimiser{best: scenario.Scenario{Clients: make([]scenario.Client, 1)}}
	for i, edit := range one.edits() {
		if e := one.best.Clone(); edit(&e) && len(e.Clients) == 0 {
			t.Errorf("edit %d leaves nobody", i)
		}
	}
}

// TestRedraw: a drawn schedule has the same faults in the same order, steps of all clients, and random choices if there
// are random options. It is no longer than the limit of steps.
func TestRedraw(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*amqplock.Options)
		chooses bool
	}{
		{"no choice", func(*amqplock.Options) {}, false},
		{"a slot drawn at random", func(o *amqplock.Options) { o.Restart = amqplock.RestartRandom }, true},
		{"a pause drawn at random", func(o *amqplock.Options) { o.Jitter = 1 }, true},
	} {
		s := scenario.Scenario{Options: amqplock.DefaultOptions(), Clients: make([]scenario.Client, 3)}
		s.Options = amqplock.Table.Edit(s.Options, c.change)
		for i := range 12 {
			s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Step, Client: uint8(1 + i%3)})
		}
		faults := []scenario.Action{{Kind: scenario.Drop, Client: 2}, {Kind: scenario.Restart}, {Kind: scenario.Advance, Arg: 7}}
		s.Schedule.Actions[1], s.Schedule.Actions[2], s.Schedule.Actions[9] = faults[0], faults[1], faults[2]
		places := make(map[int]bool)
		for seed := range uint64(50) {
			out := redraw(&s, rand.New(rand.NewPCG(seed, 1)))
			var kept []scenario.Action
			clients, choices, steps := make(map[uint8]bool), 0, 0
			for i, a := range out {
				switch a.Kind {
				case scenario.Step:
					steps++
					clients[a.Client] = true
				case scenario.Choose:
					choices++
				default:
					kept = append(kept, a)
					places[i] = true
				}
			}
			if !slices.Equal(kept, faults) || len(clients) != 3 || steps != 2*12+8 || (choices > 0) != c.chooses {
				t.Errorf("%s, seed %d: faults %v, clients %v, %d steps, %d choices", c.name, seed, kept, clients, steps, choices)
			}
		}
		if len(places) < 20 {
			t.Errorf("%s: faults come at %d places only", c.name, len(places))
		}
	}
	s := scenario.Scenario{Options: amqplock.DefaultOptions(), Clients: make([]scenario.Client, 1), Schedule: scenario.Schedule{Actions: make([]scenario.Action, scenario.MaxSteps)}}
	if n := len(redraw(&s, rand.New(rand.NewPCG(1, 1)))); n != s.StepLimit() {
		t.Errorf("%d actions, expected %d", n, s.StepLimit())
	}
}
