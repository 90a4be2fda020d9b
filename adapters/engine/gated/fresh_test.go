package gated_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// degrading is the reference semaphore with clients that fail after some use. From then on, a client answers every
// acquire with slot 1 without sending anything.
type degrading struct {
	foreign.Starter
	// spoils reports whether a client fails from now on, after this number of acquires and the result of the last one.
	spoils func(calls int, last lock.Result) bool
}

func degradingSemaphore(spoils func(int, lock.Result) bool) degrading {
	target := amqplock.References[0]
	return degrading{foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}, spoils}
}

func (w degrading) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := w.Starter.Start(ctx, number)
	return &degradingClient{Client: c, degrading: w}, err
}

type degradingClient struct {
	foreign.Client
	degrading degrading
	calls     int
	spoilt    bool
}

func (c *degradingClient) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	if c.spoilt && op == lock.Acquire {
		return lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, nil
	}
	r, err := c.Client.Call(ctx, op, p)
	if op == lock.Acquire && !strings.Contains(p.Name, "warm") { // acquires for warming up belong to no execution
		c.calls++
		c.spoilt = c.spoilt || c.degrading.spoils(c.calls, r)
	}
	return r, err
}

func full(r lock.Result) bool { return r.Reason == lock.Full }

func proveWith(t *testing.T, c gated.Config) *engine.Result {
	t.Helper()
	res, err := gated.Prove(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestSuspected checks violations that clients show only because of earlier executions. They must be reported as
// suspected, with the recorded execution and the number of attempts of fresh clients.
func TestSuspected(t *testing.T) {
	t.Parallel()
	starter := degradingSemaphore(func(calls int, _ lock.Result) bool { return calls > 12 })
	res := proveWith(t, gated.Config{Lock: gated.Lock{Starter: starter}, Sampling: engine.Sampling{Seed: 5, Scenarios: 60, Workers: 1}})
	found := res.Counterexamples("")
	if len(found) == 0 || !strings.Contains(withVerdict(res.Report, report.Suspected), "mutual-exclusion") {
		t.Fatalf("suspected: %q, of %d", withVerdict(res.Report, report.Suspected), len(found))
	}
	if got := withVerdict(res.Report, report.Violated); got != "" {
		t.Errorf("violated: %s", got)
	}
	for _, ce := range found {
		if !ce.Suspected || ce.Tries != (histories.Tries{Of: 5}) || len(ce.Scenario.Schedule.Actions) == 0 || ce.Violation.Detail == "" {
			t.Errorf("%s: suspected %v, %+v, %d steps, %q", ce.Property, ce.Suspected, ce.Tries, len(ce.Scenario.Schedule.Actions), ce.Violation.Detail)
		}
	}
	r, err := gated.Replay(t.Context(), found[0], starter, gated.Server{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation != nil || r.Tries != (histories.Tries{Of: 5}) {
		t.Errorf("replayed: %+v, %+v", r.Violation, r.Tries)
	}
}

// TestShrinkWithFreshClients checks clients that carry state from one execution into the next. Minimisation must keep
// every step that fresh clients need for the violation, and the counterexample must replay.
func TestShrinkWithFreshClients(t *testing.T) {
	t.Parallel()
	starter := degradingSemaphore(func(_ int, last lock.Result) bool { return full(last) })
	res := proveWith(t, gated.Config{
		Lock: gated.Lock{Starter: starter}, Sampling: engine.Sampling{Seed: 1, Scenarios: 60, Workers: 1, Until: property.Set(0).With(property.MutualExclusion)},
	})
	ce := enginetest.CounterexampleOf(t, res, property.MutualExclusion)
	called := 0
	for _, c := range ce.Scenario.Clients {
		called += len(c.Ops)
	}
	if called < 3 { // the violation needs three calls: a grant, a refusal, and a wrong grant to the refused client
		t.Errorf("%d calls in %d steps:\n%s", called, len(ce.Scenario.Schedule.Actions), strings.Join(ce.Transcript, "\n"))
	}
	replayAll(t, res, starter)
}

// replayAll checks the counterexamples of a result: fresh clients must show the violation again, unless it is only
// suspected. It returns the number of counterexamples, and how many are only suspected.
func replayAll(t *testing.T, res *engine.Result, starter foreign.Starter) (all, suspected int) {
	t.Helper()
	for i := range res.Report.Properties {
		if p := &res.Report.Properties[i]; p.Violation != nil && (p.Violation.Detail == "" || p.Violation.Diagram == "") {
			t.Errorf("%s of %s: nothing is said of it", p.Property, res.Report.Target)
		}
	}
	for _, ce := range res.Counterexamples("") {
		all++
		if ce.Suspected {
			suspected++
			continue
		}
		r, err := gated.Replay(t.Context(), ce, starter, gated.Server{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation == nil {
			t.Errorf("%s of %s, execution %d of seed %d, does not replay:\n%s", ce.Property, res.Report.Target, ce.Origin.Scenario, ce.Origin.Seed, enginetest.Drawn(t, r.Trace))
		}
	}
	return all, suspected
}

// TestFoundAtOnce checks that a violation is reported before anything else is run, with an execution that replays. If
// the run then ends, the final report contains the violation.
func TestFoundAtOnce(t *testing.T) {
	t.Parallel()
	starter, kind := machines(t, "locked-is-success")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var told []*histories.Counterexample
	res, err := gated.Prove(ctx, gated.Config{
		Lock: gated.Lock{Starter: starter, Kind: kind}, Sampling: engine.Sampling{Seed: 1, Scenarios: 200, Workers: 1},
		Found: func(ce *histories.Counterexample) { told = append(told, ce); stop() },
		Progress: func(p engine.Progress) {
			if p.Violated > len(told) {
				t.Errorf("%d properties are violated, and %d told of", p.Violated, len(told))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) == 0 || !res.Report.Interrupted || res.Report.Outcome() != report.OutcomeViolated {
		t.Fatalf("%d told of, interrupted %v: %v", len(told), res.Report.Interrupted, res.Report.Outcome())
	}
	if len(res.Counterexamples("")) != len(told) {
		t.Errorf("%d told of, %d in the result", len(told), len(res.Counterexamples("")))
	}
	for _, ce := range told {
		if p := res.Report.Result(ce.Property); p.Violation == nil || p.Violation.Detail == "" || !p.Violation.Suspected {
			t.Errorf("%s: the report has %+v", ce.Property, p.Violation)
		}
		r, err := gated.Replay(t.Context(), ce, starter, gated.Server{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation == nil {
			t.Errorf("%s does not replay:\n%s", ce.Property, enginetest.Drawn(t, r.Trace))
		}
	}
}

// TestGravestFirst checks that a run minimises the violation of mutual exclusion first, and that the last
// counterexample reported for a property is the one in the result. It checks external clients and locks of this module.
func TestGravestFirst(t *testing.T) {
	t.Parallel()
	last := make(map[property.Property]*histories.Counterexample)
	var smaller []property.Property
	found := func(ce *histories.Counterexample) {
		if before := last[ce.Property]; before != nil && len(ce.Scenario.Schedule.Actions) < len(before.Scenario.Schedule.Actions) {
			smaller = append(smaller, ce.Property)
		}
		last[ce.Property] = ce
	}
	check := func(res *engine.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if len(smaller) < 2 || smaller[0] != property.MutualExclusion {
			t.Errorf("made smaller: %v", smaller)
		}
		all := res.Counterexamples("")
		for _, ce := range all {
			if told := last[ce.Property]; told == nil || !slices.Equal(told.Transcript, ce.Transcript) || told.Suspected != ce.Suspected {
				t.Errorf("%s: what was told last is not the result: %+v", ce.Property, told)
			}
		}
		if len(all) != len(last) {
			t.Errorf("%d told of, %d in the result", len(last), len(all))
		}
	}
	starter, kind := machines(t, "locked-is-success")
	two := property.Set(0).With(property.MutualExclusion).With(property.Linearizable) // linearizable is violated first
	check(gated.Prove(t.Context(), gated.Config{Lock: gated.Lock{Starter: starter, Kind: kind, Demands: two & property.Promises}, Sampling: engine.Sampling{Seed: 1, Scenarios: 30, Workers: 1, Until: two}, Found: found}))
	clear(last)
	smaller = nil
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		t.Fatal(err)
	}
	check(sample.Prove(t.Context(), sample.Config{Target: target, Sampling: engine.Sampling{Seed: 1, Scenarios: 2000, Workers: 2}, Found: found}))
}

var replayed = flag.Int("replays", 12, "how many counterexamples of examples and mutants are replayed on fresh clients")

// TestCounterexamplesReplay replays counterexamples with fresh clients: of mutants behind the gate, of examples with a
// bug, and of clients that do not wait for replies. Each must reproduce its violation, unless it is only suspected.
func TestCounterexamplesReplay(t *testing.T) {
	t.Parallel()
	var all, suspected int
	want := *replayed
	if testing.Short() {
		want = min(want, 4)
	}
	for seed := uint64(1); all < want; seed++ {
		for _, wrong := range wrongTargets(t) {
			if all >= want {
				break
			}
			wrong.Seed, wrong.Scenarios = seed, 30
			n, s := replayAll(t, proveWith(t, wrong), wrong.Starter)
			all, suspected = all+n, suspected+s
		}
	}
	t.Logf("%d counterexamples replayed, %d of them suspected", all, suspected)
}

// processesReplayed is the value of -replays from which counterexamples of examples in other languages are replayed as
// well.
const processesReplayed = 100

// wrongTargets returns configurations of locks with a bug.
func wrongTargets(t *testing.T) (out []gated.Config) {
	for _, m := range mutant.All {
		out = append(out, gated.Config{
			Lock: gated.Lock{Starter: foreigntest.Machines{Target: m, Options: m.Settled(amqplock.DefaultOptions())}, Kind: m.Kind, Name: m.Name},
		})
	}
	for _, e := range enginetest.Examples {
		if e.Command != "" && *replayed < processesReplayed {
			continue
		}
		e.Need(t)
		for bug := range e.Breaks {
			if bug != enginetest.SharedConnection {
				out = append(out, gated.Config{Lock: gated.Lock{Starter: e.Starter(t, bug), Name: e.Folder + ", " + bug}})
			}
		}
	}
	slices.SortFunc(out, func(a, b gated.Config) int { return strings.Compare(a.Name, b.Name) })
	return out
}
