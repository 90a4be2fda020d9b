package consumption_test

import (
	"flag"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/consumption"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
)

var scenarios = flag.Int("scenarios", 3000, "how many executions each reference has to survive")

// TestReferences: in random executions, the reference locks violate none of the properties that they promise.
func TestReferences(t *testing.T) {
	var r sim.Runner
	for _, target := range consumption.References {
		source := sim.NewSource(sim.Space{Target: target}, 1)
		promised := property.Of(target)
		for i := range *scenarios {
			s := source.Scenario(i)
			tr := r.Trace(target, &s, property.Weak)
			for _, v := range tr.Violations {
				if promised.Has(v.Property) {
					for _, st := range tr.Steps {
						t.Logf("%v %s -> %s %x %x %v", st.Action, st.Command, st.Reply, st.Truth[0].Exists, st.Truth[0].Taken, st.Truth[0].Owner[:4])
					}
					for _, e := range tr.History.Events {
						t.Logf("%v", e)
					}
					t.Fatalf("%s, scenario %d: step %d: %s: %s (%+v)", target.Name, i, v.Step+1, v.Property, v.Explain(), s.Options)
				}
			}
		}
	}
}

// enough is the number of random executions in which each mutant must violate its property.
const enough = 4000

// TestMutants: each mutant promises the property that it is made to violate, and violates it.
func TestMutants(t *testing.T) {
	var r sim.Runner
	for _, target := range consumption.Mutants {
		breaks, err := property.Named(target.Breaks)
		if err != nil {
			t.Fatalf("%s: %v", target.Name, err)
		}
		if !property.Of(target).Has(breaks) {
			t.Errorf("%s does not promise %s", target.Name, breaks)
		}
		source, found := sim.NewSource(sim.Space{Target: target}, 1), false
		for i := 0; i < enough && !found; i++ {
			s := source.Scenario(i)
			r.Run(target, &s)
			found = r.Monitor.Found.Has(breaks)
			if found {
				t.Logf("%s: %s in execution %d", target.Name, breaks, i+1)
			}
		}
		if !found {
			t.Errorf("%s does not break %s in %d executions", target.Name, breaks, enough)
		}
	}
}

// TestCrashBesideHalfOpen: the property crash-frees does not require that a crash frees the permit of an earlier,
// half-open connection, since permits have no numbers.
func TestCrashBesideHalfOpen(t *testing.T) {
	for _, target := range consumption.References {
		if target.Name != "waiting-token-semaphore" {
			continue
		}
		var r sim.Runner
		s := sim.NewSource(sim.Space{Target: target}, 20261123).Scenario(1269)
		for _, v := range r.Trace(target, &s, property.Weak).Violations {
			if v.Property == property.CrashFrees {
				t.Errorf("violates %s: %s", v.Property, v.Explain())
			}
		}
	}
}
