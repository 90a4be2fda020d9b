package sim_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestCountsTwice: in some scenarios for external clients, one client counts the slots before and after its other
// operations, and another client changes the slots in between. A client that remembers its first count is then wrong.
func TestCountsTwice(t *testing.T) {
	const most = 400
	count := scenario.Operation{Op: lock.Count}
	source, twice := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 1), 0
	for i := range most {
		sc := source.External(i, 0)
		for j, c := range sc.Clients {
			others := slices.Delete(slices.Clone(sc.Clients), j, j+1)
			if len(c.Ops) > 1 && c.Ops[0] == count && c.Ops[len(c.Ops)-1] == count && slices.ContainsFunc(others, changes(c.Lock)) {
				twice++
			}
		}
	}
	if twice < most/50 {
		t.Errorf("somebody counts twice in %d of %d scenarios", twice, most)
	}
}

// changes returns a function that reports whether a client adds or removes slots of the given lock.
func changes(of int) func(scenario.Client) bool {
	return func(c scenario.Client) bool {
		return c.Lock == of && slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool { return o.Op == lock.Add || o.Op == lock.Remove })
	}
}

// TestNarrow: scenarios for external clients include rare situations. In some, all clients wait for one slot. In some,
// one of two administrators loses one of its connections. In some, a client suffers a fault right after a command that
// changes something.
func TestNarrow(t *testing.T) {
	const most = 800
	source, crowded, disturbed := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 1), 0, 0
	interrupted, resized := 0, 0
	for i := range most {
		sc := source.External(i, 0)
		waits, administer := 0, 0
		for _, c := range sc.Clients {
			if slices.Contains(c.Ops, scenario.Operation{Op: lock.Acquire, Arg: scenario.Waiting}) {
				waits++
			}
			if c.Administers() {
				administer++
			}
		}
		if sc.Locks[0].Slots == 1 && waits > 1 && administer == 0 {
			crowded++
		}
		if sc.Deeper == scenario.EveryChange {
			interrupted++
			if f := sc.Faults[0]; f.Client > 0 { // a fault without a client is a restart of the broker
				if o := sc.Clients[f.Client-1].Ops[0]; (o.Op == lock.Add || o.Op == lock.Remove) && o.Arg > 1 {
					resized++
				}
			}
		}
		drops := func(f scenario.Fault) bool { return f.Do == scenario.Drop && f.Client > 1 && f.Delay > 0 }
		if len(sc.Clients) == 3 && administer == 2 && len(sc.Faults) == 1 && slices.ContainsFunc(sc.Faults, drops) {
			disturbed++
		}
	}
	if interrupted < most/20 || resized < most/40 {
		t.Errorf("of %d scenarios %d have somebody lose something behind a change, and in %d that is who adds or removes several slots", most, interrupted, resized)
	}
	if crowded < most/40 || disturbed < most/100 {
		t.Errorf("of %d scenarios %d are crowded, and in %d an administrator loses a connection", most, crowded, disturbed)
	}
}

// TestAsleep: in some scenarios of a mutex with leases or sessions, a client is paused for longer than they last, while
// it holds the mutex. Where only sessions end, idle times are no longer than needed.
func TestAsleep(t *testing.T) {
	const most = 200
	source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 1)
	for _, traits := range []lock.Traits{0, lock.Leases, lock.Sessions} {
		asleep, notices := 0, 0
		for i := range most {
			for _, f := range source.External(i, traits).Faults {
				if f.Do == scenario.Pause && f.Late {
					asleep++
					if f.Arg >= scenario.Asleep+1000 {
						notices++
					}
				}
				if f.Do == scenario.Idle && traits == lock.Sessions && f.Arg > 2*sim.PastLease {
					t.Fatalf("scenario %d: an idle time of %d s", i, f.Arg)
				}
			}
		}
		if traits == 0 && asleep > 0 || traits != 0 && (asleep < most/20 || notices < most/50 || notices == asleep) {
			t.Errorf("traits %d: in %d of %d scenarios a client is asleep, in %d it notices", traits, asleep, most, notices)
		}
	}
}
