package stress_test

import (
	"context"
	"sync"
	"testing"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/lock"
)

// A load that Fit has adapted to a lock type passes Check for that type.
func TestLoadFits(t *testing.T) {
	load := stress.Load{Slots: 3, Clients: 2, Admins: 1, Rounds: 1}
	for _, kind := range []lock.Kind{lock.Semaphore, lock.Mutex, lock.PersistentMutex} {
		fit := load.Fit(kind)
		if err := fit.Check(kind); err != nil {
			t.Error(err)
		}
		if err := load.Check(kind); err == nil && kind != lock.Semaphore {
			t.Errorf("a %s bears %+v", kind, load)
		}
	}
}

// Two lives, of the same client or of different clients, never have the same process number.
func TestProcesses(t *testing.T) {
	load := stress.Load{Clients: 2, Admins: 1}
	seen := make(map[int32]bool)
	for life := range int32(4) {
		for client := range int32(3) {
			seen[load.Process(client+1, life+1)] = true
		}
	}
	if len(seen) != 12 || !seen[1] || !seen[12] {
		t.Errorf("%v", seen)
	}
}

// No client begins a round before all have ended the previous one. The barrier does not wait for clients that have
// left.
func TestBarrier(t *testing.T) {
	load := stress.Load{Clients: 3, Rounds: 50}
	b := load.Barrier()
	var mu sync.Mutex
	under := 0 // number of clients in the current round
	b.Begin = func(round int) {
		mu.Lock()
		defer mu.Unlock()
		if under != 0 {
			t.Errorf("round %d begins while %d are in the one before", round, under)
		}
	}
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		under += n
	}
	var workers sync.WaitGroup
	for client := range load.Clients {
		workers.Go(func() {
			defer b.Leave()
			for range load.Rounds - 10*client { // some clients leave earlier than others
				if !b.Await(t.Context()) {
					t.Error("the round does not begin")
				}
				count(1)
				count(-1)
			}
		})
	}
	workers.Wait()
	if b.Rounds() != load.Rounds {
		t.Errorf("%d rounds", b.Rounds())
	}
}

// A client that waits at the barrier returns when the run's context ends.
func TestBarrierEnds(t *testing.T) {
	load := stress.Load{Clients: 2, Rounds: 1}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if load.Barrier().Await(ctx) {
		t.Error("a round begins with one client of two")
	}
}
