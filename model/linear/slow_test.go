package linear

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// Steps are all that bounds the search: with too few it decides nothing, and with as many as it takes
// it decides the same each time. Wherever they run out, nothing is claimed that was not found.
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
	h := script(t, lock.Mutex, 0, text)
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

// A busy machine does not change what is decided, nor how many steps that takes.
func TestLoadDoesNotDecide(t *testing.T) {
	const steps = 1 << 6
	type outcome struct {
		result Decision
		left   int
		found  Finding
	}
	decide := func() (all []outcome) {
		for seed := range uint64(200) {
			choose := bySeed(seed)
			h := drawHistory(choose, drawAny(choose))
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
