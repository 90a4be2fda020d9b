package mutant_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// limit is how many scenarios a mutant may survive.
const limit = 2000

var seeds = flag.Int("seeds", 2, "from how many seeds each mutant has to be killed")

// TestKilled: every mutant is found out, by the property that it was made to break, from every seed.
func TestKilled(t *testing.T) {
	for _, m := range mutant.All {
		t.Run(m.Name, func(t *testing.T) {
			p := breaks(t, m)
			var took []int
			for seed := range *seeds {
				n := kill(m, p, uint64(seed))
				if n == 0 {
					t.Fatalf("seed %d: %d scenarios do not show %s broken", seed, limit, p)
				}
				took = append(took, n)
			}
			slices.Sort(took)
			t.Logf("%s broken after %d scenarios (median), %d (worst of %d seeds)", p, took[len(took)/2], took[len(took)-1], *seeds)
		})
	}
}

// kill runs a mutant until a property is seen broken, and tells in which scenario; 0 is never.
func kill(m *lock.Target, p spec.Property, seed uint64) int {
	var r sim.Runner
	source := sim.NewSource(sim.Space{Target: m}, seed)
	for i := range limit {
		s := source.Scenario(i)
		r.Run(m, &s)
		if broken(&r, p) {
			return i + 1
		}
	}
	return 0
}

// broken reports whether a property is seen broken. Linearizability is asked for last: it may take a
// search.
func broken(r *sim.Runner, p spec.Property) bool {
	if p != spec.Linearizable {
		return r.Monitor.Found.Has(p)
	}
	found, _ := r.Judge(spec.Scan)
	return found.Has(p)
}

// TestReferenceSurvives: what kills the mutants finds nothing in the locks that they were made of.
func TestReferenceSurvives(t *testing.T) {
	var r sim.Runner
	for _, target := range lock.References {
		for seed := range *seeds {
			source := sim.NewSource(sim.Space{Target: target}, uint64(seed))
			for i := range limit {
				s := source.Scenario(i)
				r.Run(target, &s)
				if found, _ := r.Judge(spec.Scan); found != 0 || !r.Monitor.Witnessed {
					t.Fatalf("%s, seed %d, scenario %d: violates %b, witnessed %v", target.Name, seed, i, found, r.Monitor.Witnessed)
				}
			}
		}
	}
}

// TestSuite: names are told apart, each mutant says what it does, and no property goes without one.
func TestSuite(t *testing.T) {
	var covered spec.PropertySet
	names := make(map[string]bool)
	for _, r := range lock.References {
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
		if m.Fix == nil && m.Naming == nil && m.Variant == nil {
			t.Errorf("%s is the reference", m.Name)
		}
		p := breaks(t, m)
		if !spec.Applicable(m.Kind).Has(p) {
			t.Errorf("%s: %s means nothing for a %s", m.Name, p, m.Kind)
		}
		covered = covered.With(p)
	}
	for p := range spec.PropertyCount {
		if !covered.Has(p) {
			t.Errorf("no mutant breaks %s", p)
		}
	}
	if mutant.Named("semaphore") != nil {
		t.Error("the reference is taken for a mutant")
	}
}

func breaks(t *testing.T, m *lock.Target) spec.Property {
	p, err := spec.PropertyNamed(m.Breaks)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return p
}
