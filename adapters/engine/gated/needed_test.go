package gated_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

var needed = flag.Bool("needed", false, "count the executions until each wrong lock in Go is found out, and try the right ones, from three seeds: minutes")

// tried is a lock of any type to be tested.
type tried struct {
	name    string
	kind    lock.Kind
	starter foreign.Starter
	demands property.Set // promises that the lock's contract demands
}

// wrongLocks returns the locks in Go that have a bug.
func wrongLocks(t *testing.T) (all []tried) {
	for _, d := range wrongSemaphores {
		all = append(all, tried{d.name, lock.Semaphore, inprocess.Starter{Name: d.name, New: d.new}, d.demands})
	}
	for _, m := range wrongMutexes {
		if m.design != nil && !m.waits {
			all = append(all, tried{m.name, lock.Mutex, m.starter(t), 0})
		}
	}
	for _, h := range wrongSeveral {
		all = append(all, tried{h.name, lock.Mutex, h.starter(), 0})
	}
	return all
}

// TestExecutionsNeeded logs how many executions are needed to find the bug of each wrong lock.
func TestExecutionsNeeded(t *testing.T) {
	t.Parallel()
	locks, seeds, most := wrongLocks(t), []uint64{1, 2, 3}, 500
	if !*needed {
		// Finding this bug needs many slots, which are drawn late.
		locks = slices.DeleteFunc(locks, func(l tried) bool { return l.name == "names run together" })
		locks, seeds, most = locks[:5], seeds[:1], 100
	}
	if testing.Short() {
		locks = locks[:2]
	}
	var sorted []int
	for _, l := range locks {
		line := fmt.Sprintf("%-50s", l.name)
		for _, seed := range seeds {
			n, by := l.found(t, seed, most)
			sorted = append(sorted, n)
			line += fmt.Sprintf("%6d %-20s", n, by)
		}
		t.Log(line)
	}
	slices.Sort(sorted)
	n := len(sorted)
	t.Logf("%d locks, %d runs: median %d, 90th percentile %d, worst %d (%d: not found)", len(locks), n, sorted[n/2], sorted[n*9/10], sorted[n-1], most+1)
	if !*needed && sorted[n-1] > most {
		t.Error("a lock was not found out")
	}
}

// rightLocks returns the correct locks in Go.
func rightLocks(t *testing.T) (all []tried) {
	for _, d := range rightSemaphores {
		all = append(all, tried{d.name, lock.Semaphore, inprocess.Starter{Name: d.name, New: d.new}, d.demands})
	}
	for _, m := range rightMutexes {
		if m.design != nil {
			all = append(all, tried{m.name, lock.Mutex, m.starter(t), 0})
		}
	}
	for _, h := range rightSeveral {
		all = append(all, tried{h.name, lock.Mutex, h.starter(), 0})
	}
	return all
}

// TestRightLocksTried checks, with -needed, that correct locks violate no property in 120 executions of each of three
// seeds.
func TestRightLocksTried(t *testing.T) {
	if !*needed {
		t.Skip("skipped: without -needed, they are tried by tests of each design")
	}
	for _, l := range rightLocks(t) {
		for seed := range uint64(3) {
			p, err := gated.ProvePart(t.Context(), gated.Config{Lock: gated.Lock{Starter: l.starter, Kind: l.kind, Demands: l.demands}, Sampling: engine.Sampling{Seed: 1 + seed, Workers: 1}}, 0, 120)
			if err != nil {
				t.Fatal(err)
			}
			if p.Violated() != 0 {
				t.Errorf("%s is accused of %v by seed %d", l.name, p.Violated().Names(), 1+seed)
			}
		}
	}
}

// found returns the first execution that shows the lock's bug, and the violated property. first is most + 1 if no
// execution shows it.
func (l *tried) found(t *testing.T, seed uint64, most int) (first int, by string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first = most + 1
	c := gated.Config{Lock: gated.Lock{Starter: l.starter, Kind: l.kind, Demands: l.demands}, Sampling: engine.Sampling{Seed: seed, Workers: 1}}
	c.Found = func(ce *histories.Counterexample) {
		if ce.Origin.Scenario < first {
			first, by = ce.Origin.Scenario, ce.Property.String()
		}
		cancel()
	}
	if _, err := gated.ProvePart(ctx, c, 0, most); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return first, by
}
