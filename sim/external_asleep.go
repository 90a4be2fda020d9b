package sim

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// asleep draws a scenario in which a client that holds a mutex is paused for longer than its lease or session lasts, or
// loses the connection for its renewals. Idle time alone does not end what the client renews by itself. The pause
// begins when the client is about to release the mutex, or to ask whether it still holds it. Meanwhile the others
// acquire the mutex. If only sessions end, a longer idle time shows nothing more, and is shortened.
func (d draw) asleep(s *scenario.Scenario, traits lock.Traits) {
	const a, v, x, r = lock.Acquire, lock.Verify, lock.Refresh, lock.Release
	often, rarely := 3, 2
	if traits.Has(lock.Losses) {
		often, rarely = 2, 1
	}
	if !traits.Has(lock.Leases) {
		often = 2
		for i := range s.Faults {
			if f := &s.Faults[i]; f.Do == scenario.Idle {
				f.Arg = min(f.Arg, 2*PastLease)
			}
		}
	}
	if d.target.Kind != lock.Mutex || d.shape.Clients != nil || d.shape.Rounds != nil || d.Bits(often) != 0 {
		return
	}
	s.Clients = []scenario.Client{
		{Ops: [][]scenario.Operation{calls(a, r, a, r), calls(a, v, r, a, r), calls(a, r, a, v, r), calls(a, x, r, a)}[d.Bits(2)]},
		{Ops: [][]scenario.Operation{calls(a, a, r, a), calls(a, r, a, r)}[d.Bits(1)]},
		{Ops: calls(a, a, a)},
	}
	s.Steps, s.Deeper, s.Locks = 0, 0, s.Locks[:1]
	if d.Bits(rarely) == 0 { // the client does not go on, and is to say that it has lost the mutex
		s.Steps = leastAsleep + d.Bits(3)
	}
	steps := uint32(1 + d.Bits(5)) // of the others, before the client goes on
	if d.Bits(1) == 1 {
		steps = allSteps
	}
	f := scenario.Fault{Do: scenario.Pause, Client: 1, At: 1, Arg: scenario.Asleep + steps, Late: true}
	if d.Bits(1) == 1 {
		f.Arg += 1000 * noticing
	}
	if traits.Has(lock.Leases) && d.Bits(rarely) == 0 { // it is awake, and loses its connection
		f.Do, f.Arg = scenario.Drop, 0
	}
	s.Faults = []scenario.Fault{f}
	d.queue(s)
}

// leastAsleep is the least number of steps of a scenario that ends while the client is asleep.
const leastAsleep = 6

// noticing is the number of seconds in which a client that was asleep may notice what has ended.
const noticing = 5

// allSteps is more than the number of steps that the others take in asleep. It is less than a second.
const allSteps = 900
