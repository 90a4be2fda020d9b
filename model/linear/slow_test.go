package linear

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lockproof/lockproof/internal/drawn"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// TestStepsDecide: only the number of steps bounds the search. With too few steps the search is undecided, and with
// enough steps it always decides the same. If the steps run out, it makes no claim.
func TestStepsDecide(t *testing.T) {
	const text = `
		c1 acquire
		c1 info acquire timed-out
		c1 release 1
		c1 ok release 1
		c2 acquire
		c2 ok acquire 1
		gone c9
		c3 acquire
		c3 ok acquire 1`
	h := drawn.Script(t, lock.Mutex, 0, text)
	whole := Check(h, Options{})
	last, located := Undecided, 0
	for steps := 1; located == 0; steps++ {
		f := Check(h, Options{Steps: steps})
		switch {
		case f.Decision == Legal, f.Decision < last:
			t.Fatalf("%d steps: %+v after %s", steps, f, last)
		case f == whole:
			located = steps
		case steps == 1000:
			t.Fatalf("%d steps: still %+v", steps, f)
		}
		last = f.Decision
	}
	t.Logf("decided and located in %d steps", located)
}

// TestLoadDoesNotDecide: a busy machine changes neither the decisions nor the number of steps.
func TestLoadDoesNotDecide(t *testing.T) {
	const steps = 1 << 6
	type outcome struct {
		result Decision
		left   int
		found  Finding
	}
	decide := func() (all []outcome) {
		for seed := range uint64(200) {
			choose := drawn.BySeed(seed)
			h := drawn.History(choose, drawn.Any(choose))
			if p, err := Specify(h, 0, Options{}); err == nil {
				res, left := p.Check(steps)
				all = append(all, outcome{res, left, Check(h, Options{Steps: steps})})
			}
		}
		return all
	}
	quiet := decide()
	var stop atomic.Bool
	defer stop.Store(true)
	for range 4 * runtime.GOMAXPROCS(0) {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	unknown := 0
	for i, o := range decide() {
		if o != quiet[i] {
			t.Errorf("history %d: %+v, and under load %+v", i, quiet[i], o)
		}
		if o.left == 0 {
			unknown++
		}
	}
	if unknown == 0 || unknown == len(quiet) {
		t.Errorf("%d of %d histories take more than %d steps: expected some", unknown, len(quiet), steps)
	}
}

// TestTooLargeToSearch: the search refuses a history that exceeds one of its bounds, and says so. A history exactly at
// the bounds is searched.
func TestTooLargeToSearch(t *testing.T) {
	parts := func(steps, pending int) *Specification {
		r := new(normaliser)
		if err := r.normalise(drawn.Script(t, lock.Mutex, 0, "c1 acquire\nc1 ok acquire 1\ngone c1\n"), 0, Options{}); err != nil {
			t.Fatal(err)
		}
		p := r.specify(0)
		p.atomicSteps = slices.Repeat(p.atomicSteps[:1], steps)
		for i := range pending {
			p.atomicSteps[i].to = p.ticks.end
		}
		return p
	}
	for _, c := range []struct {
		steps, pending int
		small          bool
	}{
		{1, 0, true}, {maxSlowSteps, 0, true}, {maxSlowSteps + 1, 0, false},
		{slowEndless + 1, slowEndless, true}, {slowEndless + 1, slowEndless + 1, false},
	} {
		if got := parts(c.steps, c.pending).small(); got != c.small {
			t.Errorf("%d steps, %d of them without an end: small is %v", c.steps, c.pending, got)
		}
	}
	h := drawn.Script(t, lock.Mutex, 0, "c1 acquire\nc1 ok acquire 1\nc1 release 1\nc1 ok release 1\n")
	for calls, why := range map[int]string{slowCalls: "", slowCalls + 1: "it is so; and the history is too large to search for an order"} {
		var c Checker
		if err := c.normaliser.normalise(h, 0, Options{}); err != nil {
			t.Fatal(err)
		}
		c.normaliser.calls = append(c.normaliser.calls, make([]operation, calls-len(c.normaliser.calls))...)
		if f := c.slow(Finding{Why: "it is so"}, Options{}); f.Why != why {
			t.Errorf("%d operations: %+v", calls, f)
		}
	}
	if f := Check(unanswered(t), Options{Steps: 1}); f.Decision != Undecided || !strings.HasSuffix(f.Why, "; and the search for an order was not over after 1 steps") {
		t.Errorf("one step: %+v", f)
	}
}

// unanswered is a small history on which the fast check is undecided, so that the search decides.
func unanswered(t *testing.T) *history.History {
	return drawn.Script(t, lock.Mutex, 0, "c1 acquire\nc1 info acquire timed-out\nc1 release 1\nc1 ok release 1\ngone c9\n")
}
