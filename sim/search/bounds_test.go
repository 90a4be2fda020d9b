package search

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search/states"
)

const many = 1 << 30

// TestBoundsSayWhatIsLeft ends searches early, by bounds or cancellation. Such a search never claims that it is
// complete. Each state that it has seen is either expanded or in the queue.
func TestBoundsSayWhatIsLeft(t *testing.T) {
	b := standard(2, 1, 1, 1, 1)
	whole := Run(context.Background(), b, Options{Workers: 1})
	for _, c := range []struct {
		name   string
		opts   Options
		blocks int // blocks of states that are expanded before the search is interrupted
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
			r := Run(searchtest.NewCountdown(c.blocks), b, c.opts)
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

// TestUnfinishedLevel interrupts a search within a level. The level does not count as finished.
func TestUnfinishedLevel(t *testing.T) {
	b := standard(2, 1, 1, 1, 1)
	most := 0
	for n := 1; n < 60; n += 9 {
		r := Run(searchtest.NewCountdown(n), b, Options{Workers: 1})
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

// TestMemoryCountsEverything sets a memory bound below what a whole search takes, but above the size of its seen
// states. The search then ends at the bound, so the bound counts the other tables, too.
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

// TestQueueIsForgotten: the queue frees the memory of states that are expanded.
func TestQueueIsForgotten(t *testing.T) {
	b := standard(2, 1, 1, 2, 1)
	r := Run(context.Background(), b, Options{Workers: 1})
	stride := int64(1 + len(b.Clients))
	// The queue has at most two levels at a time. Each consists of blocks, of which one is not full.
	if most := 2 * (r.Widest + blockStates) * stride * 4; r.QueueBytes > most || r.QueueBytes < r.Widest*stride*4 {
		t.Errorf("%d bytes of states, where %d of %d are a level at most", r.QueueBytes, r.Widest, r.States)
	}
}

// TestSpends: an action that uses up a fault cannot be part of a cycle; every other action can.
func TestSpends(t *testing.T) {
	want := map[scenario.ActionKind]bool{
		scenario.Step: false, scenario.Choose: false, scenario.Detect: false,
		scenario.Drop: true, scenario.ChannelError: true, scenario.Lose: true, scenario.Restart: true,
		scenario.CrashBefore: true, scenario.CrashEffect: true, scenario.CrashReply: true,
	}
	for do, is := range want {
		if spends(do) != is {
			t.Errorf("%s uses up a fault: %v, want %v", do, !is, is)
		}
	}
}

// TestGraphSize: the reported size of a state graph includes its slices, its hash table, and the memory for finding its
// components.
func TestGraphSize(t *testing.T) {
	p := newPlan(standard(2, 1, 0, 1, 0), Reductions{})
	g, ok := newStateGraph(context.Background(), p, 0)
	if !ok || g.count() == 0 {
		t.Fatal("no states")
	}
	before := g.size()
	for _, more := range []struct {
		name string
		add  func()
		want int64
	}{
		{"states", func() { g.states = append(make([]uint32, 0, cap(g.states)+100), g.states...) }, 400},
		{"parents", func() { g.parent = append(make([]uint32, 0, cap(g.parent)+100), g.parent...) }, 400},
		{"the table", func() { g.index = append(make([]uint32, 0, cap(g.index)+100), g.index...) }, 400},
		{"moves", func() { g.to = append(make([]uint32, 0, cap(g.to)+100), g.to...) }, 400},
		{"first moves", func() { g.first = append(make([]int, 0, cap(g.first)+100), g.first...) }, 800},
	} {
		was := g.size()
		if more.add(); g.size()-was != more.want {
			t.Errorf("100 more of %s are %d bytes, want %d", more.name, g.size()-was, more.want)
		}
	}
	if before < int64(40*g.count()) {
		t.Errorf("%d bytes for %d states", before, g.count())
	}
}

// TestLinksInside: links to parts that do not exist are refused, though the digest is right.
func TestLinksInside(t *testing.T) {
	p := newPlan(standard(1, 1, 0, 1, 0), Reductions{})
	for _, image := range []string{"a", "b", "c"} {
		p.clients.Number([]byte(image), func() states.Part { return states.Part{} })
	}
	for k, right := range map[uint64]bool{0: true, 2<<32 | 1: true, 1<<32 | 2: true, 3: false, 3 << 32: false, 1<<32 | 3: false, 3<<32 | 1: false, 1 << 63: false} {
		var l links
		err := searchtest.Reread(t, func(e *states.Encoder) { links{k: {}}.save(e) }, func(d *states.Decoder) { l = readLinks(d, p) })
		if (err == nil) != right || right && len(l) != 1 {
			t.Errorf("a link from part %d to part %d of 3: %v", k>>32, uint32(k), err)
		}
	}
}
