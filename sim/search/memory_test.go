package search

import (
	"context"
	"testing"
)

// TestExhausted: a bound of memory is exceeded by one byte, and parts run out of numbers, those of clients and the shared
// ones.
func TestExhausted(t *testing.T) {
	s := newSearch(context.Background(), standard(2, 1, 1, 1, 0), Options{Workers: 2, Storage: Exact})
	defer s.seen.free()
	s.begin()
	before := s.memory()
	s.shared.bytes.Add(1000)
	s.clients.bytes.Add(200)
	s.queueBytes.Add(30)
	s.workers[1].bytes.Add(4)
	if more := s.memory() - before; more != 1234 {
		t.Errorf("1,234 bytes more count as %d", more)
	}
	for more, want := range map[int64]bool{-1: true, 0: false, 1: false} {
		if s.opts.Memory = s.memory() + s.seen.growing() + more; s.exhausted() != want {
			t.Errorf("%d bytes more than it takes: exhausted %v", more, !want)
		}
	}
	if s.opts.Memory = 0; s.exhausted() {
		t.Error("exhausted without a bound")
	}
	for name, p := range map[string]*parts{"shared": s.shared, "clients": s.clients} {
		was := p.n.Load()
		for n, want := range map[uint32]bool{(1<<14 - 16) * chunkSize: false, (1<<14-16)*chunkSize + 1: true} {
			if p.n.Store(n); s.exhausted() != want {
				t.Errorf("with %d of %s: exhausted %v", n, name, !want)
			}
		}
		p.n.Store(was)
	}
}

// TestQueueCounted: what blocks of a queue take is counted while they are kept, and the most that they took.
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
