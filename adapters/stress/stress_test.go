package stress_test

import (
	"context"
	"sync"
	"testing"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/lock"
)

// A load that fits a lock type can be put on it.
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

// No two lives have the same number.
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

// A client begins a round only when all have ended the one before. The barrier does not wait for clients that leave.
func TestBarrier(t *testing.T) {
	load := stress.Load{Clients: 3, Rounds: 50}
	b := load.Barrier()
	var mu sync.Mutex
	under := 0 // clients in the round at hand
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
			for range load.Rounds - 10*client { // some leave earlier
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

// A client that waits in vain goes on when the run is over.
func TestBarrierEnds(t *testing.T) {
	load := stress.Load{Clients: 2, Rounds: 1}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if load.Barrier().Await(ctx) {
		t.Error("a round begins with one client of two")
	}
}
