package gated_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// machines returns clients that execute a target of this module.
func machines(t *testing.T, name string) (foreign.Starter, lock.Kind) {
	t.Helper()
	target, err := engine.TargetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}, target.Kind
}

func exploreExternal(t *testing.T, ctx context.Context, c gated.ExploreConfig) *engine.Result {
	t.Helper()
	res, err := gated.Explore(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// withVerdict returns the names of the properties with this verdict.
func withVerdict(r *report.Report, want report.Verdict) string {
	var names []string
	for i := range r.Properties {
		if v, _ := r.Verdict(&r.Properties[i]); v == want {
			names = append(names, r.Properties[i].Property.String())
		}
	}
	return strings.Join(names, " ")
}

// TestExploreExternal checks that a complete exploration proves properties within bounds that the report names.
// Properties that only a fault can violate, and those of cost, are not proved. The number of executions is pinned.
func TestExploreExternal(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		target         string
		clients, slots int
		admins, runs   int
		proved         string
	}{
		{"semaphore", 2, 1, 0, 48, "mutual-exclusion linearizable no-phantom-slot contiguous-slots exact-count effective-release no-leak progress minimal-driver no-crash limit-respected"},
		{"semaphore", 1, 1, 1, 339, "mutual-exclusion linearizable no-phantom-slot contiguous-slots exact-count effective-release no-leak progress minimal-driver no-crash limit-respected"},
		{"mutex", 2, 1, 0, 18, "mutual-exclusion linearizable effective-release no-leak progress minimal-driver no-crash"},
		{"persistent-mutex", 2, 1, 0, 38, "mutual-exclusion linearizable no-phantom-slot exact-count removal-drains effective-release no-leak progress minimal-driver no-crash"},
	} {
		if testing.Short() && k.runs > 100 {
			continue // skips an exploration that takes a second
		}
		starter, kind := machines(t, k.target)
		res := exploreExternal(t, t.Context(), gated.ExploreConfig{
			Lock: gated.Lock{Starter: starter, Kind: kind, Demands: property.Promises}, Workload: explore.Workload{Clients: k.clients, Rounds: 1, Admins: k.admins, Slots: k.slots},
		})
		r := res.Report
		if r.Runs.Incomplete != "" || r.Runs.Whole != k.runs || !strings.Contains(r.Bounds, "every order of these commands") {
			t.Errorf("%s: %+v, %q; expected %d executions, and that they are all", k.target, *r.Runs, r.Bounds, k.runs)
		}
		if got := withVerdict(r, report.Proved); got != k.proved {
			t.Errorf("%s: proved %s\nexpected %s", k.target, got, k.proved)
		}
		if got := withVerdict(r, report.Passed) + withVerdict(r, report.Violated); got != "" {
			t.Errorf("%s: neither proved nor skipped: %s", k.target, got)
		}
	}
}

// TestExploreExternalBound checks that an exploration which ends early proves nothing and says why.
func TestExploreExternalBound(t *testing.T) {
	t.Parallel()
	starter, kind := machines(t, "semaphore")
	c := gated.ExploreConfig{Lock: gated.Lock{Starter: starter, Kind: kind}, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}, Executions: 7}
	r := exploreExternal(t, t.Context(), c).Report
	if withVerdict(r, report.Proved) != "" || withVerdict(r, report.Passed) == "" || r.Runs.Whole != 7 || !strings.Contains(r.Runs.Incomplete, "only 7 executions") {
		t.Errorf("proved %q by %+v", withVerdict(r, report.Proved), *r.Runs)
	}
	if strings.Contains(r.Bounds, "every") {
		t.Errorf("the bounds claim too much: %s", r.Bounds)
	}
	ctx, stop := context.WithCancel(t.Context())
	c.Executions, c.Progress = 0, func(p engine.Progress) {
		if p.Scenarios == 5 {
			stop()
		}
	}
	if r = exploreExternal(t, ctx, c).Report; !r.Interrupted || withVerdict(r, report.Proved) != "" || r.Runs.Incomplete == "" {
		t.Errorf("interrupted %v, proved %q by %+v", r.Interrupted, withVerdict(r, report.Proved), *r.Runs)
	}
}

// TestExploreExternalWaits checks clients that can wait for a lock. The verdicts and every format of the report must
// say that waiting was not explored. For other clients they must not.
func TestExploreExternalWaits(t *testing.T) {
	const left = "acquires that wait with a deadline"
	for _, waits := range []bool{false, true} {
		m := mutex{name: "exclusive queue", design: mutexes.Queue{}, waits: waits}
		r := exploreExternal(t, t.Context(), gated.ExploreConfig{
			Lock: gated.Lock{Starter: m.starter(t), Kind: lock.Mutex}, Workload: explore.Workload{Clients: 2, Rounds: 1, Calls: []scenario.Operation{{Op: lock.Acquire}}},
		}).Report
		if withVerdict(r, report.Proved) == "" {
			t.Errorf("nothing is proved by %+v", *r.Runs)
		}
		var card, json, page strings.Builder
		err := errors.Join(report.WriteCard(&card, r, style.Style{}), report.WriteJSON(&json, r), report.WritePage(&page, &report.Page{Report: r}))
		if err != nil {
			t.Fatal(err)
		}
		for says, in := range map[string]string{
			left + " were not explored":                                  r.Bounds,
			"not explored " + left:                                       card.String(),
			"without " + left + ": no two clients hold the lock at once": page.String(),
			`"not_explored": ["` + left + `"]`:                           json.String(),
			`"reason": "without ` + left + `"`:                           json.String(),
		} {
			if strings.Contains(strings.Join(strings.Fields(in), " "), says) != waits {
				t.Errorf("waits %v: expected %q only of clients that wait, in\n%s", waits, says, in)
			}
		}
	}
}

// TestExploreExternalFinds checks that violations are found which only some orders of commands show, and that their
// executions replay.
func TestExploreExternalFinds(t *testing.T) {
	t.Parallel()
	for name, property := range map[string]property.Property{
		"locked-is-success": property.MutualExclusion, "release-forgets": property.EffectiveRelease,
		"probe-is-claim": property.LimitRespected, // with identical slots only the number of holders can be wrong
	} {
		if testing.Short() && name == "probe-is-claim" {
			continue // skips an exploration that takes a second
		}
		starter, kind := machines(t, name)
		res := exploreExternal(t, t.Context(), gated.ExploreConfig{Lock: gated.Lock{Starter: starter, Kind: kind}, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}})
		replays(t, res, property, starter)
	}
}

// replays checks that the result has a counterexample of the property, and that its replay violates the property again.
func replays(t *testing.T, res *engine.Result, property property.Property, starter foreign.Starter) {
	t.Helper()
	r, err := gated.Replay(t.Context(), enginetest.CounterexampleOf(t, res, property), starter, gated.Server{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil {
		t.Errorf("the counterexample does not replay:\n%s", enginetest.Drawn(t, r.Trace))
	}
}

// TestExploreExternalFaults explores two clients with a crash or a dropped connection. The report must name the faults,
// and a bound on preemptions. A violation that needs a fault must replay.
func TestExploreExternalFaults(t *testing.T) {
	t.Parallel()
	starter, kind := machines(t, "mutex")
	c := gated.ExploreConfig{Lock: gated.Lock{Starter: starter, Kind: kind}, Workload: explore.Workload{Clients: 2, Rounds: 1, Faults: sim.FaultBounds{Crashes: 1, Late: true}}}
	r := exploreExternal(t, t.Context(), c).Report
	if !strings.Contains(r.Bounds, "up to equivalence") || !strings.Contains(r.Bounds, "every order of these commands, and of its clients every single crash, whenever") ||
		!strings.Contains(withVerdict(r, report.Proved), "crash-frees") {
		t.Errorf("%q, %+v: proved %s", r.Bounds, *r.Runs, withVerdict(r, report.Proved))
	}
	c.Preemptions = new(1)
	r = exploreExternal(t, t.Context(), c).Report
	if !strings.Contains(r.Bounds, "turns at most once from a client") || strings.Contains(r.Bounds, "equivalence") || r.Runs.Incomplete != "" {
		t.Errorf("%q, %+v", r.Bounds, *r.Runs)
	}
	var card strings.Builder
	report.WriteCard(&card, r, style.Style{})
	if withVerdict(r, report.Proved) != "" || !strings.Contains(strings.Join(strings.Fields(card.String()), " "), "every order with at most 1 preemption: no two clients") {
		t.Errorf("proved %s\n%s", withVerdict(r, report.Proved), card.String())
	}
	starter, kind = machines(t, "verify-asks-nobody")
	res := exploreExternal(t, t.Context(), gated.ExploreConfig{
		Lock: gated.Lock{Starter: starter, Kind: kind}, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Drops: 1}}, First: true,
	})
	replays(t, res, property.MutualExclusion, starter)
}

// TestExploreExternalRefuses checks that an invalid configuration is refused before a client is started.
func TestExploreExternalRefuses(t *testing.T) {
	starter, _ := machines(t, "semaphore")
	for says, c := range map[string]gated.ExploreConfig{
		"0 clients":         {Workload: explore.Workload{Rounds: 1}},
		"no administration": {Lock: gated.Lock{Kind: lock.Mutex}, Workload: explore.Workload{Clients: 1, Rounds: 1, Admins: 1}},
		"-1 executions":     {Workload: explore.Workload{Clients: 1, Rounds: 1}, Executions: -1},
		"40 slots":          {Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 40}},
		"restarts":          {Workload: explore.Workload{Clients: 1, Rounds: 1, Faults: sim.FaultBounds{Restarts: 1}}},
		"any number":        {Workload: explore.Workload{Clients: 1, Rounds: 1, Faults: sim.FaultBounds{Crashes: sim.AnyNumber}}},
		"-1 preemptions":    {Workload: explore.Workload{Clients: 1, Rounds: 1}, Preemptions: new(-1)},
	} {
		c.Starter = starter
		if _, err := gated.Explore(t.Context(), c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, expected %q", err, says)
		}
	}
}

// TestExploreExample explores the example in Python. If it is correct, mutual exclusion and other properties are
// proved. With a bug, mutual exclusion is violated in an execution that replays.
func TestExploreExample(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in several languages")
	}
	for _, e := range enginetest.Examples {
		if e.Folder != "python" {
			continue
		}
		e.Need(t)
		explore := func(bug string) *engine.Result {
			return exploreExternal(t, t.Context(), gated.ExploreConfig{Lock: gated.Lock{Starter: e.Starter(t, bug)}, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}})
		}
		r := explore("").Report
		if r.Runs.Incomplete != "" || !strings.Contains(withVerdict(r, report.Proved), "mutual-exclusion no-phantom-slot") {
			t.Errorf("%+v; proved %s", *r.Runs, withVerdict(r, report.Proved))
		}
		replays(t, explore("locked-is-success"), property.MutualExclusion, e.Starter(t, "locked-is-success"))
	}
}
