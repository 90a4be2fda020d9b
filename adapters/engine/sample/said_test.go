package sample_test

import (
	"reflect"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestViolatingCounted checks the number of violating executions that a report states for each property. The number
// must not depend on the number of workers. A counterexample must state the seed, server and options of its run.
func TestViolatingCounted(t *testing.T) {
	const scenarios = 2000
	target := target(t, "locked-is-success")
	fixed, said := [][2]string{{"retries", "0"}}, []string{"retries=0"}
	source := sim.NewSource(sim.Space{Target: target, Fixed: fixed}, 3)
	var want [property.Count]int
	var r sim.Runner
	for i := range scenarios {
		sc := source.Scenario(i)
		r.Run(target, &sc)
		found, _ := r.Judge(property.Weak)
		for p := range property.Count {
			if found.Has(p) {
				want[p]++
			}
		}
	}
	if want[property.MutualExclusion] < 2 {
		t.Fatalf("%d executions violate mutual-exclusion: too few to tell", want[property.MutualExclusion])
	}
	for _, workers := range []int{1, 4} {
		res, err := sample.Prove(t.Context(), sample.Config{Target: target, Options: fixed, Sampling: engine.Sampling{Seed: 3, Scenarios: scenarios, Workers: workers}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Report.Properties {
			if p.Violating != want[p.Property] {
				t.Errorf("%d workers: %s is violated in %d executions, want %d", workers, p.Property, p.Violating, want[p.Property])
			}
		}
		if !reflect.DeepEqual(res.Report.Fixed, said) {
			t.Errorf("the report's options: %v", res.Report.Fixed)
		}
		ce := res.Counterexamples("lockproof prove")[0]
		if o := ce.Origin; o.Seed != 3 || o.Broker != "the simulated broker" || !reflect.DeepEqual(o.Options, said) {
			t.Errorf("the counterexample is of %+v", o)
		}
	}
}

// TestRenamedOption fixes an option by its former name. The report must list the option by its new name.
func TestRenamedOption(t *testing.T) {
	res, err := sample.Prove(t.Context(), sample.Config{Options: [][2]string{{"skew", "3"}}, Sampling: engine.Sampling{Scenarios: 20, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"jitter=3"}; !reflect.DeepEqual(res.Report.Fixed, want) {
		t.Errorf("fixed: %v, want %v", res.Report.Fixed, want)
	}
}
