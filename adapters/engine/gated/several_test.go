package gated_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/several"
)

// held is a mutex whose clients hold several locks at once.
type held struct {
	name   string
	design several.Design
	bug    several.Bug
	breaks []property.Property // that a wrong one violates, any of these
}

var rightSeveral = []held{
	{name: "queue", design: several.Queue{}},
	{name: "token", design: several.Token{}},
	{name: "token, tidy", design: several.Tidy{}},
}

var wrongSeveral = []held{
	{name: "token, releases anyway", design: several.Token{}, bug: several.ReleasesAnyway, breaks: []property.Property{property.MutualExclusion, property.NoLeak}},
	{name: "token, releases after no", design: several.Token{}, bug: several.ReleasesAfterNo, breaks: []property.Property{property.MutualExclusion, property.NoLeak}},
	{name: "queue, one flag", design: several.Queue{}, bug: several.OneFlag, breaks: []property.Property{property.MutualExclusion, property.HonestVerify}},
	{name: "token, one flag", design: several.Token{}, bug: several.OneFlag, breaks: []property.Property{property.MutualExclusion, property.HonestVerify}},
	{name: "queue, last only", design: several.Queue{}, bug: several.LastOnly, breaks: []property.Property{property.EffectiveRelease, property.NoLeak}},
	{name: "queue, hangs up", design: several.Queue{}, bug: several.HangsUp, breaks: []property.Property{property.MutualExclusion}},
	{name: "token, hangs up", design: several.Token{}, bug: several.HangsUp, breaks: []property.Property{property.MutualExclusion}},
	{name: "token, old tag", design: several.Token{}, bug: several.OldTag, breaks: []property.Property{property.HonestVerify, property.MutualExclusion}},
	{name: "token, takes along", design: several.Token{}, bug: several.TakesAlong, breaks: []property.Property{property.RemovalDrains, property.HonestVerify}},
	{name: "queue expires", design: several.Queue{}, bug: several.Expires, breaks: []property.Property{property.MutualExclusion, property.HonestVerify, property.RemovalDrains}},
	{name: "token ages", design: several.Token{}, bug: several.Ages, breaks: []property.Property{property.Progress, property.EffectiveRelease, property.NoLeak}},
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
		Starter: h.starter(),
		Kind:    lock.Mutex, Seed: seed, Scenarios: scenarios, Until: until,
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// severalClient is a client as lockproof takes it.
type severalClient struct{ *several.Client }

// TestRightSeveral: clients that hold several locks at once are accused of nothing while they are right.
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
			t.Log(res.Report.Design)
		})
	}
}

// TestWrongSeveral: wrong ones are found out by what names their bug, in an execution that replays.
func TestWrongSeveral(t *testing.T) {
	t.Parallel()
	for _, h := range wrongSeveral {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			res := h.prove(t, 1, 2000, setOf(h.breaks))
			for _, ce := range res.Counterexamples("") {
				if slices.Contains(h.breaks, ce.Property) && !ce.Suspected {
					t.Logf("%s, first seen in execution %d: %s\n", ce.Property, ce.Origin.Scenario, ce.Violation.Detail)
					return
				}
			}
			for _, p := range res.Report.Properties {
				if p.Violation != nil {
					t.Errorf("%s is violated: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
				}
			}
			t.Errorf("none of %v is violated in %d executions", h.breaks, res.Report.Scenarios)
		})
	}
}

// TestTakesAlong: what goes back with another lock's release was not lost with a connection, also where the process has lost
// something before.
func TestTakesAlong(t *testing.T) {
	t.Parallel()
	h := held{name: "token, takes along", design: several.Token{}, bug: several.TakesAlong}
	res := h.prove(t, 1, 800, setOf([]property.Property{property.StaleBeliefEnds}))
	for _, p := range res.Report.Properties {
		if p.Property == property.StaleBeliefEnds && p.Violation != nil {
			t.Errorf("%s\n%s", p.Violation.Detail, p.Violation.Diagram)
		}
	}
}

// TestLateReply: a client that takes no answer within a second for a no may have the lock after all, when the answer comes.
// One that ends its connection then is right.
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
			runner, err := external.NewRunner(t.Context(), external.Config{Starter: h.starter(), Kind: lock.Mutex})
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
			for _, x := range []*external.Execution{x, again} {
				if wrong := h.bug != several.NoBug; x.Found.Has(property.NoLeak) != wrong || !wrong && x.Found != 0 {
					t.Errorf("%v", x.Violations)
				}
			}
		})
	}
}
