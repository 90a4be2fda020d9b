package search

import (
	"context"
	"sync/atomic"
	"testing"
)

// countdown is a context that is over once it was asked so many times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func newCountdown(n int) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

const many = 1 << 30

// TestBoundsSayWhatIsLeft ends searches early: they never claim everything, and what was seen is either
// expanded or in the queue.
func TestBoundsSayWhatIsLeft(t *testing.T) {
	b := standard(2, 1, 1, 1, 1)
	whole := Run(context.Background(), b, Options{Workers: 1})
	for _, c := range []struct {
		name   string
		opts   Options
		blocks int // expanded before it is interrupted
		want   Stop
	}{
		{"depth 1", Options{Depth: 1}, many, AtDepth},
		{"depth 20", Options{Depth: 20}, many, AtDepth},
		{"depth exact", Options{Depth: 20, Storage: Exact}, many, AtDepth},
		{"the last level but one", Options{Depth: whole.Depth - 1}, many, AtDepth},
		{"the last level", Options{Depth: whole.Depth}, many, Finished},
		{"no memory", Options{Memory: 1}, many, AtMemory},
		{"cancelled at once", Options{}, 0, Interrupted},
		{"cancelled on the way", Options{}, 40, Interrupted},
	} {
		for _, workers := range []int{1, 2} {
			c.opts.Workers = workers
			r := Run(newCountdown(c.blocks), b, c.opts)
			if r.Stop != c.want {
				t.Errorf("%s: stopped %d, want %d", c.name, r.Stop, c.want)
			}
			if r.States != r.Expanded+r.Queue || (r.Stop == Finished) != (r.Queue == 0) {
				t.Errorf("%s, %d workers: %d states, %d expanded, %d in the queue, stopped %d", c.name, workers, r.States, r.Expanded, r.Queue, r.Stop)
			}
			if c.want == AtDepth && r.Depth != c.opts.Depth {
				t.Errorf("%s: %d levels finished", c.name, r.Depth)
			}
		}
	}
}

// TestUnfinishedLevel has a level that was begun not count as finished.
func TestUnfinishedLevel(t *testing.T) {
	b := standard(2, 1, 1, 1, 1)
	most := 0
	for n := 1; n < 60; n += 9 {
		r := Run(newCountdown(n), b, Options{Workers: 1})
		if r.Stop == Finished {
			break
		}
		full := Run(context.Background(), b, Options{Workers: 1, Depth: r.Depth})
		if r.Expanded < full.Expanded || r.Depth < most {
			t.Errorf("after %d blocks: %d expanded, %d levels finished of %d states", n, r.Expanded, r.Depth, full.Expanded)
		}
		most = r.Depth
	}
	if most == 0 {
		t.Error("no level was finished")
	}
}

// TestMemoryCountsEverything bounds the memory by a little less than all that a search takes, which is
// much more than the states seen take alone.
func TestMemoryCountsEverything(t *testing.T) {
	b := standard(2, 1, 1, 1, 1)
	for _, storage := range []Storage{Fingerprints, Exact, Bits} {
		o := Options{Workers: 1, Storage: storage, Array: 1 << 20}
		whole := Run(context.Background(), b, o)
		if whole.TableBytes == 0 || whole.PartBytes == 0 || whole.MoveBytes == 0 || whole.QueueBytes == 0 {
			t.Fatalf("%v: bytes %d, %d, %d, %d", storage, whole.TableBytes, whole.PartBytes, whole.MoveBytes, whole.QueueBytes)
		}
		o.Memory = whole.TableBytes + whole.PartBytes + whole.MoveBytes/2
		if r := Run(context.Background(), b, o); r.Stop != AtMemory || r.Queue == 0 {
			t.Errorf("%v: stopped %d with %d in the queue", storage, r.Stop, r.Queue)
		}
		o.Memory = 3 * (whole.TableBytes + whole.PartBytes + whole.MoveBytes + whole.QueueBytes)
		if r := Run(context.Background(), b, o); r.Stop != Finished {
			t.Errorf("%v: stopped %d with enough memory", storage, r.Stop)
		}
	}
}
