package gated_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/external/externaltest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
)

// TestProveExternal proves the reference behind real sockets, and finds what is wrong with a variant,
// the same on each run.
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
		res := proveExternal(t, "no-admin-mutex", 100)
		found := res.Report.Result(property.AdminExclusion).Violation
		if found == nil {
			t.Fatal("admin-exclusion is not violated")
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
		Starter: externaltest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())},
		Kind:    target.Kind, Seed: 1, Scenarios: scenarios, Until: property.Set(0).With(property.AdminExclusion),
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
