package mutant_test

import (
	"flag"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

var survives = flag.Int("survives", 4000, "how many scenarios each reference has to survive")

// TestReferenceSurvives: the scenarios that expose mutants show no violation of the reference locks. The monitor has a
// witness of linearizability in each of these executions.
func TestReferenceSurvives(t *testing.T) {
	var r sim.Runner
	for _, target := range amqplock.References {
		source := sim.NewSource(sim.Space{Target: target}, 1)
		for i := range *survives {
			s := source.Scenario(i)
			r.Run(target, &s)
			if found, _ := r.Judge(property.Weak); found != 0 || !r.Monitor.Witnessed {
				t.Fatalf("%s, scenario %d: violates %b, witnessed %v", target.Name, i, found, r.Monitor.Witnessed)
			}
		}
	}
}

// TestSuite: names are unique, each mutant has a description, and each property has a mutant.
func TestSuite(t *testing.T) {
	var covered property.Set
	names := make(map[string]bool)
	for _, r := range amqplock.References {
		names[r.Name] = true
	}
	for _, m := range mutant.All {
		if names[m.Name] {
			t.Errorf("%s: the name is taken", m.Name)
		}
		names[m.Name] = true
		if mutant.Named(m.Name) != m {
			t.Errorf("%s is not found by its name", m.Name)
		}
		if m.Doc == "" {
			t.Errorf("%s does not say what it does", m.Name)
		}
		if m.Fix == nil && m.Design == nil {
			t.Errorf("%s is the reference", m.Name)
		}
		p := breaks(t, m)
		if !property.Applicable(m.Kind).Has(p) {
			t.Errorf("%s: %s means nothing for a %s", m.Name, p, m.Kind)
		}
		covered = covered.With(p)
	}
	for p := range property.Count {
		if p >= property.NoCrash { // mutants here never panic, and have no leases
			continue
		}
		if !covered.Has(p) {
			t.Errorf("no mutant breaks %s", p)
		}
	}
	if mutant.Named("semaphore") != nil {
		t.Error("the reference is taken for a mutant")
	}
}

func breaks(t *testing.T, m *lock.Target) property.Property {
	p, err := property.Named(m.Breaks)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return p
}
