package lockproof_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof"
)

// holed is a counterexample in which two administrators without a mutex work at once and leave a hole among the slots.
func holed(t *testing.T) *lockproof.Counterexample {
	t.Helper()
	target := lockproof.Reference(lockproof.Semaphore).With("admin-mutex", "false")
	res, err := lockproof.Explore(t.Context(), target, lockproof.Bounds{
		Options:    lockproof.Options{Properties: []lockproof.Property{lockproof.ContiguousSlots}},
		Clients:    lockproof.None,
		Admins:     2,
		Slots:      2,
		Crashes:    lockproof.None,
		AdminCalls: "remove:1,add:1",
	})
	if err != nil {
		t.Fatal(err)
	}
	c := res.Judgement(lockproof.ContiguousSlots).Counterexample
	if c == nil {
		t.Fatal("there is none")
	}
	file := filepath.Join(t.TempDir(), "found.json")
	if err := c.Save(file); err != nil {
		t.Fatal(err)
	}
	if c, err = lockproof.LoadCounterexample(file); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExploreFrom: Explore begins in a state within a counterexample, with the server's state and the clients' beliefs
// there. It reports violations after that state, but none before it. The counterexample that it finds replays from a
// file.
func TestExploreFrom(t *testing.T) {
	c := holed(t)
	o := lockproof.Bounds{
		Options: lockproof.Options{Properties: []lockproof.Property{lockproof.ContiguousSlots, lockproof.Linearizable, lockproof.NoLeak}},
		From:    c, After: c.Steps, AdminCalls: "count", Crashes: lockproof.None,
	}
	res, err := lockproof.Explore(t.Context(), c.Target, o)
	if err != nil {
		t.Fatal(err)
	}
	if j := res.Judgement(lockproof.Linearizable); j.Verdict != lockproof.Skipped || !strings.Contains(j.Reason, "in the midst") {
		t.Errorf("%s is %s: %s", j.Property, j.Verdict, j.Reason)
	}
	// No client changes slots from here on, so that no property is violated.
	if j := res.Judgement(lockproof.NoLeak); j.Verdict != lockproof.Proved {
		t.Errorf("%s is %s", j.Property, j.Verdict)
	}

	o.AdminCalls, o.Properties = "add:1", []lockproof.Property{lockproof.ContiguousSlots}
	res, err = lockproof.Explore(t.Context(), c.Target, o)
	if err != nil {
		t.Fatal(err)
	}
	found := res.Judgement(lockproof.ContiguousSlots).Counterexample
	if found == nil || found.Steps <= c.Steps {
		t.Fatalf("%v after %d steps", found, c.Steps)
	}
	file := filepath.Join(t.TempDir(), "further.json")
	if err := found.Save(file); err != nil {
		t.Fatal(err)
	}
	further, err := lockproof.LoadCounterexample(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := lockproof.Replay(t.Context(), further, lockproof.Options{})
	if err != nil || again.Judgement(lockproof.ContiguousSlots).Counterexample.Detail != found.Detail {
		t.Errorf("replayed: %v, %v", again, err)
	}

	// With After 0 the exploration begins at the start of the execution, and finds the first violation again.
	o.After, o.AdminCalls = 0, ""
	res, err = lockproof.Explore(t.Context(), c.Target, o)
	if err != nil || res.Judgement(lockproof.ContiguousSlots).Verdict != lockproof.Violated {
		t.Errorf("from its beginning: %v, %v", res, err)
	}
}

// TestExploreAnyFromHoles: if a semaphore begins with a hole, any number of clients give the same verdicts as two
// clients.
func TestExploreAnyFromHoles(t *testing.T) {
	judged := []lockproof.Property{lockproof.MutualExclusion, lockproof.Progress, lockproof.Linearizable}
	for _, clients := range []int{2, lockproof.Any} {
		res, err := lockproof.Explore(t.Context(), lockproof.Target{}, lockproof.Bounds{Options: lockproof.Options{Properties: judged}, Start: []int{1, 3}, Clients: clients, Admins: lockproof.None})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []lockproof.Verdict{lockproof.Proved, lockproof.Violated, lockproof.Skipped} {
			if j := res.Judgement(judged[i]); j.Verdict != want {
				t.Errorf("%d clients: %s is %s, not %s: %s", clients, j.Property, j.Verdict, want, j.Reason)
			}
		}
	}
}

// TestExternalFromHoles: an external lock cannot begin with a hole, since it is unknown which queue is which slot.
func TestExternalFromHoles(t *testing.T) {
	holes := []int{1, 3}
	for _, judge := range []func() (*lockproof.Result, error){
		prove(goSemaphore(), lockproof.Sample{Start: holes}), explore(goSemaphore(), lockproof.Bounds{Start: holes}),
	} {
		_, err := judge()
		if !errors.Is(err, lockproof.ErrInvalid) || !strings.Contains(err.Error(), "expected no hole") {
			t.Errorf("got %v", err)
		}
	}
}

// TestExploreFromNowhere: Bounds.From is refused without an execution, with another target, or together with options
// that contradict it.
func TestExploreFromNowhere(t *testing.T) {
	c := holed(t)
	for _, o := range []lockproof.Bounds{
		{From: c, After: c.Steps + 1}, {From: c, After: -1}, {After: 3}, {From: new(lockproof.Counterexample)}, {From: c, Clients: 2},
		{From: c, Clients: lockproof.Any}, {From: c, Start: []int{1, 3}}, {From: c, Locks: []string{"jobs"}},
	} {
		if _, err := lockproof.Explore(t.Context(), c.Target, o); !errors.Is(err, lockproof.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, target := range []lockproof.Target{lockproof.Mutant("locked-is-success"), c.Target.With("overshoot", "1")} {
		if _, err := lockproof.Explore(t.Context(), target, lockproof.Bounds{From: c}); !errors.Is(err, lockproof.ErrInvalid) {
			t.Errorf("another target: %v", err)
		}
	}
}

// TestConnectNeverReturns: if a Go client's constructor ignores its cancelled context, the run ends, and its error says
// that a goroutine is left.
func TestConnectNeverReturns(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	stuck := lockproof.Go("stuck", func(context.Context, string) (lockproof.Lock, error) { select {} })
	if _, err := lockproof.Prove(ctx, stuck, lockproof.Sample{}); err == nil || !strings.Contains(err.Error(), "its goroutine is left") {
		t.Errorf("a constructor that never returns: %v", err)
	}
}
