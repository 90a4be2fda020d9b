package sim_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestNoSlots: the reference locks on every server work if a lock has no slots at the beginning. They refuse acquires
// rightly and violate no property.
func TestNoSlots(t *testing.T) {
	none, r := 0, new(sim.Runner)
	for _, b := range lock.Backends() {
		for _, target := range b.References {
			if target.Kind == lock.Mutex {
				continue
			}
			source := sim.NewSource(sim.Space{Target: target, Shape: sim.Shape{Slots: &none}}, 1)
			for i := range 200 {
				s := source.Scenario(i)
				for _, v := range r.Trace(target, &s, property.Weak).Violations {
					if property.Of(target).Has(v.Property) {
						t.Fatalf("%s, execution %d, step %d: %s: %s", target.Name, i, v.Step+1, v.Property, v.Explain())
					}
				}
			}
		}
	}
}
