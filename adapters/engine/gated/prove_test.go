package gated_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// TestProveExternal runs the reference lock through real sockets: it must violate nothing. A mutant must violate mutual
// exclusion with the same counterexample in each run.
func TestProveExternal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	res := proveExternal(t, "semaphore", 300)
	for i := range res.Report.Properties {
		if p := &res.Report.Properties[i]; p.Violation != nil {
			t.Errorf("%v violated by the reference: %s\n%s", p.Property, p.Violation.Detail, p.Violation.Diagram)
		}
	}
	var diagrams [2]string
	for i := range diagrams {
		res := proveExternal(t, "locked-is-success", 100)
		found := res.Report.Result(property.MutualExclusion).Violation
		if found == nil {
			t.Fatal("mutual-exclusion is not violated")
		}
		diagrams[i] = found.Diagram
	}
	if diagrams[0] != diagrams[1] {
		t.Errorf("one seed, two counterexamples:\n%s\n%s", diagrams[0], diagrams[1])
	}
	t.Log(diagrams[0])
}

func proveExternal(t *testing.T, name string, scenarios int) *engine.Result {
	t.Helper()
	target, err := engine.TargetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	res, err := gated.Prove(t.Context(), gated.Config{
		Lock: gated.Lock{
			Starter: foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())},
			Kind:    target.Kind,
		},
		Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios, Until: property.Set(0).With(property.MutualExclusion)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestDearAndFirst runs a correct mutex that costs more than the guidelines allow for their own locks. Without a
// contract that demands low cost, this is no violation, also if the run ends at the first violation of any property.
func TestDearAndFirst(t *testing.T) {
	all := property.ApplicableExternal(lock.Mutex)
	res, err := gated.Prove(t.Context(), gated.Config{
		Lock: gated.Lock{
			Starter: inprocess.Starter{Name: "dear", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
				return mutexes.New(ctx, url, mutexes.Token{})
			}},
			Kind: lock.Mutex,
		},
		Sampling: engine.Sampling{Seed: 1, Scenarios: 12, Until: all}, Judging: engine.Judging{Properties: all},
	})
	if err != nil {
		t.Fatal(err)
	}
	dear := false
	for _, p := range res.Report.Properties {
		if p.Violation != nil {
			t.Errorf("%s is violated: %s", p.Property, p.Violation.Detail)
		}
		dear = dear || p.Broken != ""
	}
	if !dear {
		t.Error("it costs no more than the guidelines allow, so that nothing is seen")
	}
}
