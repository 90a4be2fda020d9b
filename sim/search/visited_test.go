package search

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestFingerprintsGrow: a table that grows keeps exactly the fingerprints that were added, also while two workers add
// to it.
func TestFingerprintsGrow(t *testing.T) {
	const all = 4 * firstSlots
	f := newFingerprints()
	defer f.free()
	before := f.size()
	var wg sync.WaitGroup
	var added [2]int
	for half := range added {
		wg.Go(func() {
			fps, fresh := make([]uint64, 64), make([]bool, 64)
			for n := 0; n < all; n += len(fps) {
				for i := range fps { // two workers add all numbers, one in ascending and one in descending order
					k := n + i
					if half == 1 {
						k = all - 1 - k
					}
					fps[i] = states.Mix(uint64(k) + 1)
				}
				f.insert(fps, nil, fresh)
				for _, is := range fresh {
					if is {
						added[half]++
					}
				}
			}
		})
	}
	wg.Wait()
	if added[0]+added[1] != all || f.count() != all {
		t.Errorf("%d and %d were new, %d are there, expected %d", added[0], added[1], f.count(), all)
	}
	if f.size() <= before || int64(all)*8 >= f.size() {
		t.Errorf("%d bytes for %d numbers, after %d", f.size(), all, before)
	}
	fresh := make([]bool, 2)
	if f.insert([]uint64{states.Mix(1), states.Mix(all + 1)}, nil, fresh); fresh[0] || !fresh[1] {
		t.Errorf("the first again and one more: new %v", fresh)
	}
}

// TestGrowthIsForeseen: before a table grows, growing returns the number of bytes that it will add.
func TestGrowthIsForeseen(t *testing.T) {
	f := newFingerprints()
	defer f.free()
	fresh, said, before := make([]bool, 16), int64(0), f.size()
	for k := uint64(1); f.size() == before; k += 16 {
		said = f.growing()
		fps := make([]uint64, 16)
		for i := range fps {
			fps[i] = states.Mix(k + uint64(i))
		}
		f.insert(fps, nil, fresh)
	}
	if grown := f.size() - before; said < grown-100 || said > grown+100 {
		t.Errorf("it grew by %d bytes and said %d", grown, said)
	}
	if f.growing() != 0 {
		t.Error("it says that it is about to grow again")
	}
}

// TestTelling: a call of Progress is due only if Progress is set and the interval has passed.
func TestTelling(t *testing.T) {
	for _, c := range []struct {
		name  string
		wants bool
		told  time.Time
		want  bool
	}{
		{"never told", true, time.Time{}, true},
		{"told a moment ago, or later", true, time.Now().Add(time.Hour), false},
		{"does not want to know", false, time.Time{}, false},
	} {
		s := &search{told: c.told}
		if c.wants {
			s.opts.Progress = func(*Stats) {}
		}
		if got := s.telling(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestTrailsEndWithTheirTime: Counterexamples and Shorter end without a result if their context has ended.
func TestTrailsEndWithTheirTime(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	b := standard(2, 1, 0, 1, 0)
	b.Target = mutant.Named("locked-is-success")
	illegal := func([]scenario.Action) bool { return false }
	if found, _ := Counterexamples(over, b, AllReductions, 1<<property.MutualExclusion, illegal); len(found) > 0 {
		t.Errorf("found %v in no time", found)
	}
	if found, _ := Counterexamples(t.Context(), b, AllReductions, 1<<property.MutualExclusion, illegal); len(found) != 1 {
		t.Errorf("found %v", found)
	}
	s := Shorter(over, b, property.MutualExclusion, scenario.MaxSteps, 1<<20)
	if s.Certain || s.Actions != nil {
		t.Errorf("certain %v of %v in no time", s.Certain, s.Actions)
	}
}
