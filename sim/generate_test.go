package sim_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestDrawnOptionsGoTogether: drawn options are compatible with each other and with the fixed options.
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

// TestCountsBesideRemovals: in some scenarios, external clients count the slots at the beginning or at the end, while
// another client removes several slots.
func TestCountsBesideRemovals(t *testing.T) {
	source := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 1)
	first, last := 0, 0
	for i := range 4000 {
		s := source.External(i, 0)
		removes := func(c scenario.Client) bool {
			return slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool { return o.Op == lock.Remove && o.Arg > 1 })
		}
		for _, c := range s.Clients {
			if n := len(c.Ops); n > 1 && !removes(c) && slices.ContainsFunc(s.Clients, removes) {
				if c.Ops[0].Op == lock.Count {
					first++
				}
				if c.Ops[n-1].Op == lock.Count {
					last++
				}
			}
		}
	}
	if first < 40 || last < 40 {
		t.Errorf("of 4000 scenarios, %d count at first and %d at last", first, last)
	}
}

// TestLimitsOfOthers: if callers of an external lock state limits, each acquire has a limit. All limits are equal in
// about half of the scenarios, and differ in others. Everything else is as in scenarios without limits.
func TestLimitsOfOthers(t *testing.T) {
	source := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 1)
	agree, differ := 0, 0
	for i := range 1000 {
		plain, limited := source.External(i, 0), source.External(i, lock.Limits)
		stated := make(map[uint8]bool)
		for c := range limited.Clients {
			for j := range limited.Clients[c].Ops {
				if o := &limited.Clients[c].Ops[j]; o.Op == lock.Acquire {
					stated[o.Arg] = true
					o.Arg = plain.Clients[c].Ops[j].Arg
				}
			}
		}
		if stated[0] || !reflect.DeepEqual(plain, limited) {
			t.Fatalf("scenario %d: limits %v, and\n%+v\nor without\n%+v", i, stated, limited, plain)
		}
		if len(stated) == 1 {
			agree++
		} else if len(stated) > 1 {
			differ++
		}
	}
	if agree < 400 || differ < 300 {
		t.Errorf("of 1000 scenarios, limits agree in %d and differ in %d", agree, differ)
	}
}
