package search

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/states"
)

// Options say how to search.
type Options struct {
	Reductions Reductions
	// Workers is the number of parallel workers; 0 is one for each processor. The result does not depend on it.
	Workers int
	// Storage is how the states seen are remembered.
	Storage Storage
	// Array is the size of the array of Bits, in bytes, and Hashes the number of bits for each state. 0 is the
	// default.
	Array  int64
	Hashes int
	// Depth bounds the number of levels; 0 is no bound.
	Depth int
	// Memory is the bound of bytes in use by seen states, queue, parts and memo tables; 0 is no bound.
	Memory int64
	// First ends the search at the first level that has a violation.
	First bool
	// Checkpoint is the file to which the search is saved if it ends early; if Every is not 0, also at that interval.
	// Resume is a checkpoint of the same bounds, reductions and storage to continue from; Workers, Depth, Memory and
	// First may differ.
	Checkpoint string
	Every      time.Duration
	Resume     string
	// Progress is called about every second, and at the end. It may be nil.
	Progress func(*Stats)

	unmemoised bool // without memo tables, and without reductions that time could invalidate
}

// Stats are the numbers of a search.
type Stats struct {
	States      int64
	Transitions int64
	Expanded    int64
	Depth       int   // levels finished
	Queue       int64 // states seen that were not expanded
	Widest      int64
	Final       int64 // states without further actions
	Unwitnessed int64 // operations ended in executions that are not their own witness
	Parts       [2]int
	TableBytes  int64 // for the states seen
	QueueBytes  int64 // for those to be expanded, at most
	PartBytes   int64
	MoveBytes   int64     // for what was worked out
	Operations  [16]int64 // transitions by operation
}

// Stop says why a search ended before everything was visited.
type Stop uint8

// The reasons.
const (
	Finished Stop = iota
	AtDepth
	AtMemory
	AtViolation
	Interrupted
	Refused   // it did not begin: the checkpoint to go on from is none of this search, see Result.Err
	AtHolders // of Run: more clients hold something at once than a world has room for
	AtSlots   // of anynumber.Run: everything was visited except steps beyond the bound of slots
	Unsound   // of Run: something that it relies on does not hold, see Result.Err
)

// Result is the result of a search.
type Result struct {
	Stats
	Stop      Stop
	Found     property.Set
	Coverage  Coverage
	Certainty Certainty
	// Reductions are those that were used: what the bounds permit of those that were asked for.
	Reductions Reductions
	// Cycles says whether executions can go on forever, and Livelock is a fair one.
	Cycles   Cycles
	Livelock *FairCycle
	// Err is why a checkpoint could not be read, or the last one not be written.
	Err error
	At  [property.Most]int // the level at which it was seen violated
}

// search is one search under way.
type search struct {
	*plan
	opts    Options
	seen    visited
	ctx     context.Context
	level   [][]uint32   // blocks of states
	queued  int64        // states in it
	next    atomic.Int64 // the next block of the level to expand
	stop    atomic.Uint32
	pause   atomic.Bool // for a checkpoint, or to tell how far it is
	saved   time.Time   // when the last one was written
	told    time.Time
	mu      sync.Mutex
	out     [][]uint32 // blocks of the next level
	res     Result
	workers []*worker
	linked  links // links and idle steps observed before the search was resumed
	idled   idleSteps
	earlier float64 // probability that memo tables missed a state before the search was resumed

	queueBytes atomic.Int64 // that blocks take, and the most they took
	queueMost  atomic.Int64
}

// blockStates is how many states a worker takes at a time.
const blockStates = 512

// Run searches until everything was visited, a bound was reached, or ctx is over.
func Run(ctx context.Context, b sim.Bounds, opts Options) *Result {
	s := newSearch(ctx, b, opts)
	if opts.Resume == "" {
		s.begin()
	} else if err := s.resume(opts.Resume); err != nil {
		s.seen.free()
		return &Result{Stop: Refused, Err: err}
	}
	s.bounded()
	for s.queued > 0 && s.stop.Load() == 0 {
		s.step()
		if s.timed.Load() {
			s.seen.free()
			opts.unmemoised, opts.Resume = true, "" // the memo tables so far are not reliable
			return Run(ctx, b, opts)
		}
		s.tell(false)
		if s.due() && s.stop.Load() == 0 {
			s.save()
		}
	}
	if s.queued > 0 && opts.Checkpoint != "" {
		s.save()
	}
	return s.finish()
}

func newSearch(ctx context.Context, b sim.Bounds, opts Options) *search {
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	s := &search{plan: newPlan(b, opts.Reductions.For(&b)), opts: opts, ctx: ctx, saved: time.Now(), told: time.Now()}
	s.slow(opts.unmemoised)
	if opts.Storage == Exact {
		s.views = states.NewViews()
	}
	s.seen = newVisited(s.plan, &opts)
	for range opts.Workers {
		s.workers = append(s.workers, s.plan.worker())
	}
	return s
}

func (s *search) begin() {
	w := s.workers[0]
	t := w.initial()
	w.ample(t, nil)
	s.seen.insert([]uint64{w.fingerprint(t)}, t, make([]bool, 1))
	s.res.Found |= w.own(t)
	s.level, s.queued = [][]uint32{t}, 1
	s.queueBytes.Add(int64(cap(t)) * 4)
}

// step expands a level, or as much of it as there is time and memory for.
func (s *search) step() {
	s.next.Store(0)
	s.pause.Store(false)
	var wg sync.WaitGroup
	for _, w := range s.workers {
		wg.Go(func() { s.expand(w) })
	}
	wg.Wait()
	s.level = s.level[min(int(s.next.Load()), len(s.level)):]
	if len(s.level) == 0 {
		s.descend()
	}
	s.queued = countStates(s.level, s.stride) + countStates(s.out, s.stride)
}

// descend goes on to the next level.
func (s *search) descend() {
	s.res.Depth++
	s.level, s.out = s.out, nil
	s.res.Widest = max(s.res.Widest, countStates(s.level, s.stride))
	s.bounded()
}

// bounded ends the search between two levels.
func (s *search) bounded() {
	switch {
	case s.ctx.Err() != nil:
		s.halt(Interrupted)
	case s.opts.First && s.res.Found != 0:
		s.halt(AtViolation)
	case s.opts.Depth > 0 && s.res.Depth >= s.opts.Depth:
		s.halt(AtDepth)
	}
}

// countStates is how many states there are in blocks.
func countStates(blocks [][]uint32, stride int) (n int64) {
	for _, b := range blocks {
		n += int64(len(b) / stride)
	}
	return n
}

func (s *search) halt(why Stop) { s.stop.CompareAndSwap(0, uint32(why)) }

// expand works on blocks of the level until none is left. A block that was begun is finished.
func (s *search) expand(w *worker) {
	b := batch{search: s, worker: w}
	for s.stop.Load() == 0 && !s.pause.Load() {
		i := s.next.Add(1) - 1
		if i >= int64(len(s.level)) {
			break
		}
		block := s.level[i]
		for at := 0; at < len(block); at += s.stride {
			b.expand(block[at : at+s.stride])
		}
		s.drop(i)
		w.weigh()
		s.check()
	}
	b.flush()
	b.close()
}

// check stops the search if memory runs out or its context ends, and pauses it for a checkpoint.
func (s *search) check() {
	if s.ctx.Err() != nil {
		s.halt(Interrupted)
	}
	if s.exhausted() {
		s.halt(AtMemory)
	}
	if s.due() || s.telling() {
		s.pause.Store(true)
	}
}

func (s *search) finish() *Result {
	r := &s.res
	if s.queued > 0 { // otherwise everything was visited, even if a bound was reached with it
		r.Stop = Stop(s.stop.Load())
	}
	s.tell(true)
	s.measure()
	for _, w := range s.workers {
		r.Coverage.Merge(&w.cover)
	}
	r.Certainty, r.Reductions = s.certainty(), s.red
	s.seen.free()
	r.Cycles, r.Livelock = s.cycles()
	return r
}
