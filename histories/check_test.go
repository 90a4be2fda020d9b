package histories

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestCheckCounterexample: the largest permitted values are accepted. Larger values are refused, and the error says
// where they are.
func TestCheckCounterexample(t *testing.T) {
	step := scenario.Action{Kind: scenario.Step, Client: 1}
	ops := func(n int, op lock.Op, arg uint8) []scenario.Operation {
		list := make([]scenario.Operation, n)
		for i := range list {
			list[i] = scenario.Operation{Op: op, Arg: arg}
		}
		return list
	}
	for _, c := range []struct {
		at     string // place of the expected error; "" if there is none
		name   string
		change func(*counterexampleFile, *scenario.Scenario)
	}{
		{"", "as it is", func(*counterexampleFile, *scenario.Scenario) {}},
		{"/scenario/target", "no target", func(_ *counterexampleFile, s *scenario.Scenario) { s.Target = "" }},
		{"/scenario/steps", "-1 steps", func(_ *counterexampleFile, s *scenario.Scenario) { s.Steps = -1 }},
		{"", "most steps", func(_ *counterexampleFile, s *scenario.Scenario) { s.Steps = scenario.MostSteps }},
		{"/scenario/steps", "a step more", func(_ *counterexampleFile, s *scenario.Scenario) { s.Steps = scenario.MostSteps + 1 }},
		{"/scenario/options", "options that cannot be had together", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Options = amqplock.Table.Edit(s.Options, func(o *amqplock.Options) {
				o.Confirm, o.Arguments.Has, o.Arguments.Overflow = amqplock.Transactions, amqp.HasMaxLength|amqp.HasOverflow, amqp.RejectPublish
			})
		}},
		{"/scenario/locks", "no lock", func(_ *counterexampleFile, s *scenario.Scenario) { s.Locks = nil }},
		{"", "two locks", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Locks = []scenario.Lock{{Name: "a"}, {Name: "b", Slots: monitor.Slots}}
		}},
		{"/scenario/locks/1/name", "two of one name", func(_ *counterexampleFile, s *scenario.Scenario) { s.Locks = []scenario.Lock{{Name: "a"}, {Name: "a"}} }},
		{"/scenario/locks/0/name", "no name", func(_ *counterexampleFile, s *scenario.Scenario) { s.Locks[0].Name = "" }},
		{"/scenario/locks", "three locks", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Locks = []scenario.Lock{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		}},
		{"/scenario/locks/0/slots", "a slot too many", func(_ *counterexampleFile, s *scenario.Scenario) { s.Locks[0].Slots = monitor.Slots + 1 }},
		{"/scenario/clients", "no client", func(f *counterexampleFile, s *scenario.Scenario) {
			s.Clients, s.Schedule.Actions, f.Violation = nil, nil, violationFile{Step: 1}
		}},
		{"", "eight clients", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Clients = make([]scenario.Client, lock.MaxClients)
		}},
		{"/scenario/clients", "nine clients", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Clients = make([]scenario.Client, lock.MaxClients+1)
		}},
		{"/scenario/clients/1/lock", "a lock that is not there", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[1].Lock = 1 }},
		{"/scenario/clients/1/lock", "lock -1", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[1].Lock = -1 }},
		{"", "many operations", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Clients[1].Ops = ops(scenario.MaxSteps, lock.Acquire, 0)
		}},
		{"/scenario/clients/1/ops", "one too many", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Clients[1].Ops = ops(scenario.MaxSteps+1, lock.Acquire, 0)
		}},
		{"/scenario/clients/0/ops/1/op", "no operation", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Clients[0].Ops = append(ops(1, lock.Acquire, 0), ops(1, lock.NoOp, 0)...)
		}},
		{"", "add 1", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[0].Ops = ops(1, lock.Add, 1) }},
		{"/scenario/clients/0/ops/0/arg", "add 0", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[0].Ops = ops(1, lock.Add, 0) }},
		{"/scenario/clients/0/ops/0/arg", "create 0", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[0].Ops = ops(1, lock.Create, 0) }},
		{"/scenario/clients/0/ops/0/arg", "remove 0", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[0].Ops = ops(1, lock.Remove, 0) }},
		{"", "wait for the last", func(_ *counterexampleFile, s *scenario.Scenario) { s.Clients[0].Ops = ops(1, lock.Wait, monitor.Slots) }},
		{"/scenario/clients/0/ops/0/arg", "wait for one more", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Clients[0].Ops = ops(1, lock.Wait, monitor.Slots+1)
		}},
		{"/scenario/faults/0/client", "a fault of nobody", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Do: scenario.Drop}}
		}},
		{"/scenario/faults/0/do", "no fault", func(_ *counterexampleFile, s *scenario.Scenario) { s.Faults = make([]scenario.Fault, 1) }},
		{"", "a fault of the last client", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Do: scenario.Drop, Client: uint8(len(s.Clients))}}
		}},
		{"/scenario/faults/0/client", "a fault of one more", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Do: scenario.Drop, Client: uint8(len(s.Clients) + 1)}}
		}},
		{"", "a restart", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Schedule.Actions[0] = scenario.Action{Kind: scenario.Restart}
		}},
		{"/scenario/schedule/actions/0/client", "a client's restart", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Schedule.Actions[0] = scenario.Action{Kind: scenario.Restart, Client: 1}
		}},
		{"/scenario/schedule/actions/0/client", "a client's time", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Schedule.Actions[0] = scenario.Action{Kind: scenario.Advance, Client: 1}
		}},
		{"/scenario/schedule/actions/0/do", "no action", func(_ *counterexampleFile, s *scenario.Scenario) { s.Schedule.Actions[0] = scenario.Action{} }},
		{"", "as many actions as may be", func(_ *counterexampleFile, s *scenario.Scenario) {
			s.Steps, s.Schedule.Actions = len(s.Schedule.Actions)+1, append(s.Schedule.Actions, step)
		}},
		{"/scenario/schedule/actions", "one too many", func(_ *counterexampleFile, s *scenario.Scenario) { s.Steps = len(s.Schedule.Actions) - 1 }},
		{"/scenario/schedule/strategy", "a drawn schedule", func(_ *counterexampleFile, s *scenario.Scenario) { s.Schedule.Strategy = scenario.PCT }},
		{"/violation/step", "step 0", func(f *counterexampleFile, _ *scenario.Scenario) { f.Violation.Step = 0 }},
		{"", "step 1", func(f *counterexampleFile, _ *scenario.Scenario) { f.Violation.Step = 1 }},
		{"", "after the last", func(f *counterexampleFile, s *scenario.Scenario) { f.Violation.Step = len(s.Schedule.Actions) + 1 }},
		{"/violation/step", "after that", func(f *counterexampleFile, s *scenario.Scenario) { f.Violation.Step = len(s.Schedule.Actions) + 2 }},
		{"", "nobody's", func(f *counterexampleFile, _ *scenario.Scenario) { f.Violation.Client, f.Violation.Other = 0, 0 }},
		{"", "the last client's", func(f *counterexampleFile, s *scenario.Scenario) {
			f.Violation.Client, f.Violation.Other = uint8(len(s.Clients)), uint8(len(s.Clients))
		}},
		{"/violation/client", "another's", func(f *counterexampleFile, s *scenario.Scenario) { f.Violation.Client = uint8(len(s.Clients) + 1) }},
		{"/violation/other", "beside another", func(f *counterexampleFile, s *scenario.Scenario) { f.Violation.Other = uint8(len(s.Clients) + 1) }},
		{"/violation/lock", "of another lock", func(f *counterexampleFile, s *scenario.Scenario) { f.Violation.Lock = uint8(len(s.Locks)) }},
		{"/tries/of", "-1 tries", func(f *counterexampleFile, _ *scenario.Scenario) { f.Tries = Tries{Of: -1} }},
		{"", "reproduced each time", func(f *counterexampleFile, _ *scenario.Scenario) { f.Tries = Tries{Shown: 5, Of: 5} }},
		{"/tries/reproduced", "reproduced more often", func(f *counterexampleFile, _ *scenario.Scenario) { f.Tries = Tries{Shown: 6, Of: 5} }},
		{"/tries/reproduced", "reproduced -1 times", func(f *counterexampleFile, _ *scenario.Scenario) { f.Tries = Tries{Shown: -1, Of: 5} }},
		{"", "suspected", func(f *counterexampleFile, _ *scenario.Scenario) { f.Tries, f.Suspected = Tries{Of: 5}, true }},
		{"/suspected", "suspected and reproduced", func(f *counterexampleFile, _ *scenario.Scenario) {
			f.Tries, f.Suspected = Tries{Shown: 1, Of: 5}, true
		}},
	} {
		x := sampleCounterexample()
		f := &counterexampleFile{Scenario: x.Scenario.Clone(), Violation: violationFile{Step: 1, Client: 1}}
		c.change(f, &f.Scenario)
		at, err := checkCounterexample(f)
		if (err == nil) != (c.at == "") || string(at) != c.at {
			t.Errorf("%s: %q, %v; want %q", c.name, at, err, c.at)
		}
	}
}
