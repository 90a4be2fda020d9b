package search

import (
	"context"
	"runtime"
	"testing"

	"github.com/lockproof/lockproof/sim/search/states"
)

// TestExhausted: a search is exhausted if its memory exceeds the bound by one byte, and not if it equals the bound.
func TestExhausted(t *testing.T) {
	s := newSearch(context.Background(), standard(2, 1, 1, 1, 0), Options{Workers: 2, Storage: Exact})
	defer s.seen.free()
	s.begin()
	before := s.memory()
	parts := s.shared.Size() + s.clients.Size()
	s.shared.Number([]byte("one"), func() (p states.Part) { return p })
	s.clients.Number([]byte("another"), func() (p states.Part) { return p })
	s.queueBytes.Add(30)
	s.workers[1].bytes.Add(4)
	if more := s.memory() - before; more != 34+s.shared.Size()+s.clients.Size()-parts {
		t.Errorf("34 bytes more, and two parts, count as %d", more)
	}
	for more, want := range map[int64]bool{-1: true, 0: false, 1: false} {
		if s.opts.Memory = s.memory() + s.seen.growing() + more; s.exhausted() != want {
			t.Errorf("%d bytes more than it takes: exhausted %v", more, !want)
		}
	}
	if s.opts.Memory = 0; s.exhausted() {
		t.Error("exhausted without a bound")
	}
}

// TestQueueCounted: the queue's size counts its blocks while they are kept, and its peak is recorded.
func TestQueueCounted(t *testing.T) {
	s := &search{}
	for _, room := range []int{10, 30} {
		b := batch{search: s, block: make([]uint32, 1, room)}
		b.keep()
		s.level = append(s.level, b.blocks...)
	}
	s.drop(0)
	if now, most := s.queueBytes.Load(), s.queueMost.Load(); now != 30*4 || most != 40*4 || s.level[0] != nil || blockBytes(s.level) != now {
		t.Errorf("%d bytes, at most %d, of %v", now, most, s.level)
	}
}

// TestWorkersByDefault: a search has as many workers as GOMAXPROCS, and searches and walks leave GOMAXPROCS unchanged.
func TestWorkersByDefault(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	b := standard(1, 1, 0, 1, 0)
	s := newSearch(context.Background(), b, Options{})
	s.seen.free()
	Walk(context.Background(), b, WalkOptions{Walks: 3, Steps: 10})
	if n := runtime.GOMAXPROCS(0); n != 3 || len(s.workers) != 3 {
		t.Errorf("%d workers, and %d processors afterwards", len(s.workers), n)
	}
}
