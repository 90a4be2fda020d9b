package engine_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

var needed = flag.Bool("needed", false, "count the executions until each wrong lock in Go is found out, from several seeds: an hour")

// wrongLock is a wrong lock of any type.
type wrongLock struct {
	name    string
	kind    lock.Kind
	starter external.Starter
	breaks  []property.Property
}

// wrongLocks are the wrong locks in Go, of every design.
func wrongLocks(t *testing.T) (all []wrongLock) {
	for _, d := range wrongSemaphores {
		all = append(all, wrongLock{d.name, lock.Semaphore, inprocess.Starter{Name: d.name, New: d.new}, d.breaks})
	}
	for _, m := range wrongMutexes {
		if m.design != nil && !m.waits {
			all = append(all, wrongLock{m.name, lock.Mutex, m.starter(t), m.breaks})
		}
	}
	for _, h := range wrongSeveral {
		all = append(all, wrongLock{h.name, lock.Mutex, h.starter(), h.breaks})
	}
	return all
}

// TestExecutionsNeeded tells how many executions it takes until each wrong lock is found out.
func TestExecutionsNeeded(t *testing.T) {
	locks, seeds, most := wrongLocks(t), []uint64{1, 2, 3}, 500
	if !*needed {
		locks, seeds, most = locks[:5], seeds[:1], 100
	}
	var sorted []int
	for _, l := range locks {
		line := fmt.Sprintf("%-50s", l.name)
		for _, seed := range seeds {
			n := l.found(t, seed, most)
			sorted = append(sorted, n)
			line += fmt.Sprintf("%6d", n)
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

// found is in which execution of a seed the lock is found out, by any of the properties that it breaks; one more than most if
// it is not.
func (l *wrongLock) found(t *testing.T, seed uint64, most int) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := most + 1
	c := engine.ExternalConfig{Starter: l.starter, Kind: l.kind, Seed: seed, Properties: setOf(l.breaks), Workers: 1}
	c.Found = func(ce *histories.Counterexample) {
		first = min(first, ce.Origin.Scenario)
		cancel()
	}
	if _, err := engine.ProveExternalPart(ctx, c, 0, most); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return first
}
