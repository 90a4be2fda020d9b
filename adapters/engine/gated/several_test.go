package gated_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/several"
)

// held is a mutex design whose clients hold several locks at once, with or without a bug.
type held struct {
	name   string
	design several.Design
	bug    several.Bug
}

var rightSeveral = []held{
	{name: "queue", design: several.Queue{}},
	{name: "token", design: several.Token{}},
	{name: "token, tidy", design: several.Tidy{}},
}

var wrongSeveral = []held{
	{name: "token, releases anyway", design: several.Token{}, bug: several.ReleasesAnyway},
	{name: "token, releases after no", design: several.Token{}, bug: several.ReleasesAfterNo},
	{name: "queue, one flag", design: several.Queue{}, bug: several.OneFlag},
	{name: "token, one flag", design: several.Token{}, bug: several.OneFlag},
	{name: "queue, last only", design: several.Queue{}, bug: several.LastOnly},
	{name: "queue, hangs up", design: several.Queue{}, bug: several.HangsUp},
	{name: "token, hangs up", design: several.Token{}, bug: several.HangsUp},
	{name: "token, old tag", design: several.Token{}, bug: several.OldTag},
	{name: "token, takes along", design: several.Token{}, bug: several.TakesAlong},
	{name: "queue expires", design: several.Queue{}, bug: several.Expires},
	{name: "token ages", design: several.Token{}, bug: several.Ages},
}

func (h *held) starter() inprocess.Starter {
	return inprocess.Starter{Name: h.name, New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := several.New(ctx, url, h.design, h.bug)
		return severalClient{c}, err
	}}
}

func (h *held) prove(t *testing.T, seed uint64, scenarios int, until property.Set) *engine.Result {
	t.Helper()
	res, err := gated.Prove(t.Context(), gated.Config{
		Lock: gated.Lock{
			Starter: h.starter(),
			Kind:    lock.Mutex,
		},
		Sampling: engine.Sampling{Seed: seed, Scenarios: scenarios, Until: until},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// severalClient adapts a client to the interface that lockproof expects.
type severalClient struct{ *several.Client }

// TestRightSeveral checks that correct clients which hold several locks at once violate no property.
func TestRightSeveral(t *testing.T) {
	t.Parallel()
	for _, h := range rightSeveral {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			scenarios := 60
			if testing.Short() {
				scenarios = 30
			}
			res := h.prove(t, 1, scenarios, 0)
			for _, p := range res.Report.Properties {
				if p.Violation != nil {
					t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
				}
			}
		})
	}
}

// TestWrongSeveral checks that the bug of each wrong client is found and reproduced by fresh clients.
func TestWrongSeveral(t *testing.T) {
	t.Parallel()
	for _, h := range wrongSeveral {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			res := h.prove(t, 1, 2000, wrong)
			for _, ce := range res.Counterexamples("") {
				if !ce.Suspected {
					t.Logf("%s, first seen in execution %d: %s\n", ce.Property, ce.Origin.Scenario, ce.Violation.Detail)
					return
				}
			}
			for _, p := range res.Report.Properties {
				if p.Violation != nil {
					t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
				}
			}
			t.Errorf("it is not found out in %d executions", res.Report.Scenarios)
		})
	}
}

// TestLateReply checks a client that treats a missing reply after one second as a refusal. If the reply comes later,
// the client holds the lock without knowing it, which must be found. A client that closes its connection instead is
// correct.
func TestLateReply(t *testing.T) {
	t.Parallel()
	ops := []scenario.Operation{{Op: lock.Acquire}}
	sc := scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}, {Ops: ops}},
		Faults:   []scenario.Fault{{Do: scenario.Stall, Client: 1, At: 2, Delay: 2}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
	}
	for _, h := range []held{{name: "patient", design: several.Queue{}}, {name: "impatient", design: several.Queue{}, bug: several.Impatient}} {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Starter: h.starter(), Kind: lock.Mutex})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			seen := runner.Playable(sc)
			x, err := runner.Run(t.Context(), &seen)
			if err != nil {
				t.Fatal(err)
			}
			replayed := sim.Replay(x.Trace)
			again, err := runner.Run(t.Context(), &replayed)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*foreign.Execution{x, again} {
				if (x.Found&wrong != 0) != (h.bug != several.NoBug) {
					t.Errorf("%v", x.Violations)
				}
			}
		})
	}
}
