package sim_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/sim"
)

// What is drawn goes with what is fixed: no scenario has options that cannot be had together.
func TestDrawnOptionsGoTogether(t *testing.T) {
	for _, fixed := range [][][2]string{nil, {{"overflow", "reject-publish"}}, {{"confirm", "transactions"}}} {
		source := sim.NewSource(sim.Space{Target: amqplock.References[0], Fixed: fixed}, 1)
		drawn := make(map[string]int)
		for i := range 2000 {
			s := source.Scenario(i)
			if err := s.Options.Check(); err != nil {
				t.Fatalf("%v fixed, scenario %d: %v", fixed, i, err)
			}
			for _, o := range s.Options.Changed() {
				drawn[o[0]+"="+o[1]]++
			}
		}
		for _, f := range fixed {
			if n := drawn[f[0]+"="+f[1]]; n != 2000 {
				t.Errorf("%v fixed, and so in %d scenarios of 2000", f, n)
			}
		}
		if fixed == nil && (drawn["overflow=reject-publish"] == 0 || drawn["confirm=transactions"] == 0) {
			t.Errorf("not all is drawn: %v", drawn)
		}
	}
}
