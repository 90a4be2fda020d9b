package external

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// A lock has no more slots than it has at first, or is created with, and are added; one that nobody creates has none, but for
// the largest limit that is stated. Who states fewer may be refused for that.
func TestMostSlots(t *testing.T) {
	a := func(limit uint8) scenario.Operation { return scenario.Operation{Op: lock.Acquire, Arg: limit} }
	sc := &scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs", Slots: 1}, {Name: "other", Slots: 2}},
		Clients: []scenario.Client{
			{Ops: []scenario.Operation{a(3), {Op: lock.Release}, a(2)}},
			{Ops: []scenario.Operation{{Op: lock.Create, Arg: 2}, {Op: lock.Add, Arg: 1}, {Op: lock.Remove, Arg: 3}, {Op: lock.Add, Arg: 1}}},
			{Lock: 1, Ops: []scenario.Operation{a(1)}},
		},
	}
	for _, test := range []struct {
		offers      []lock.Op
		first, next int
	}{{[]lock.Op{lock.Create, lock.Acquire}, 4, 2}, {[]lock.Op{lock.Acquire}, 3, 1}} {
		r := &run{Runner: &Runner{about: About{Limits: true, Operations: test.offers}}, sc: sc}
		if first, next := r.most(0), r.most(1); first != test.first || next != test.next {
			t.Errorf("%v: %d and %d, expected %d and %d", test.offers, first, next, test.first, test.next)
		}
		for limit, limited := range map[int]bool{test.first - 1: true, test.first: false} {
			if r.limited(&clientState{id: 1, op: lock.Acquire, arg: uint8(limit)}) != limited {
				t.Errorf("%v: refused for a limit of %d: expected %v", test.offers, limit, limited)
			}
		}
	}
}
