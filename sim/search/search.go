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

// Options configures a search.
type Options struct {
	Reductions Reductions
	// Workers is the number of parallel workers; 0 is one for each processor. The result does not depend on it.
	Workers int
	// Storage selects how seen states are stored.
	Storage Storage
	// Array is the size in bytes of the array of the storage Bits. Hashes is the number of bits that each state sets in
	// it. For either, 0 selects the default.
	Array  int64
	Hashes int
	// Depth bounds the number of levels; 0 is no bound.
	Depth int
	// Memory is the maximal number of bytes for seen states, queue, parts and memo tables; 0 is no bound.
	Memory int64
	// First ends the search after the first level of states that has a violation.
	First bool
	// Checkpoint is the file to which the search is saved if it ends early. If Every is not 0, the search is also saved
	// at that interval. Resume is the checkpoint to continue from, or "". Its bounds, reductions and storage must be
	// those of the search; Workers, Depth, Memory and First may differ.
	Checkpoint string
	Every      time.Duration
	Resume     string
	// Progress is called about every second, and at the end. It may be nil.
	Progress func(*Stats)

	unmemoised bool // use neither memo tables nor the reductions that passing time invalidates
}

// Stats are the statistics of a search.
type Stats struct {
	States      int64
	Transitions int64
	Expanded    int64
	Depth       int    // finished levels
	Queue       int64  // seen states that are not yet expanded
	Widest      int64  // number of states of the largest level
	Final       int64  // states without further actions
	Unwitnessed int64  // operations completed while the monitor had no linearization
	Parts       [2]int // numbers of shared parts and of clients' parts
	TableBytes  int64  // memory of the set of seen states
	QueueBytes  int64  // largest size of the queue
	PartBytes   int64
	MoveBytes   int64     // memory of the memo tables
	Operations  [16]int64 // transitions by operation
}

// Stop says why a search ended: Finished if everything was visited, otherwise the reason why it ended early.
type Stop uint8

// The reasons why a search ended.
const (
	Finished Stop = iota
	AtDepth
	AtMemory
	AtViolation
	Interrupted
	Refused   // the search did not begin: its checkpoint is unreadable or belongs to another search, see Result.Err
	AtHolders // only anynumber.Run: more clients hold slots at once than a state has room for
	AtSlots   // only anynumber.Run: everything was visited except steps beyond the bound of slots
	Unsound   // only anynumber.Run: an assumption of the search does not hold, see its Result.Err
)

// Result is the result of a search.
type Result struct {
	Stats
	Stop      Stop
	Found     property.Set
	Coverage  Coverage
	Certainty Certainty
	// Reductions are the reductions that the search used: those that were requested and that the bounds permit.
	Reductions Reductions
	// Cycles says whether some execution never ends. Livelock is such an execution that is fair, or nil.
	Cycles   Cycles
	Livelock *FairCycle
	// Err is the error of reading the checkpoint, or of writing the latest one; nil if there was none.
	Err error
	At  [property.Most]int // for each violated property, the first level with a violation
}

// search is the state of a search that is under way.
type search struct {
	*plan
	opts    Options
	seen    visited
	ctx     context.Context
	level   [][]uint32   // blocks of states to expand in the current level
	queued  int64        // number of states in level and out
	next    atomic.Int64 // index of the next block of the level to expand
	stop    atomic.Uint32
	pause   atomic.Bool // workers pause for a checkpoint, or for a call of Progress
	saved   time.Time   // when the last checkpoint was written
	told    time.Time   // when Progress was last called
	mu      sync.Mutex
	out     [][]uint32 // blocks of the next level
	res     Result
	workers []*worker
	linked  links // links and idle steps from the checkpoint
	idled   idleSteps
	earlier float64 // probability that memo tables missed a state before the checkpoint

	queueBytes atomic.Int64 // memory of all blocks
	queueMost  atomic.Int64 // the maximum of queueBytes so far
}

// blockStates is the number of states in a block, which one worker expands at a time.
const blockStates = 512

// Run searches until every state is visited, a bound is reached, or ctx ends.
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
			opts.unmemoised, opts.Resume = true, "" // start again, since results of the memo tables so far may be wrong
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

// step expands states of the current level, until all are expanded or the search stops or pauses.
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

// descend makes the next level the current one.
func (s *search) descend() {
	s.res.Depth++
	s.level, s.out = s.out, nil
	s.res.Widest = max(s.res.Widest, countStates(s.level, s.stride))
	s.bounded()
}

// bounded stops the search between two levels if a bound is reached or ctx has ended.
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

// countStates returns the number of states in the blocks, in which each state takes stride numbers.
func countStates(blocks [][]uint32, stride int) (n int64) {
	for _, b := range blocks {
		n += int64(len(b) / stride)
	}
	return n
}

func (s *search) halt(why Stop) { s.stop.CompareAndSwap(0, uint32(why)) }

// expand expands blocks of the level until none is left, or the search stops or pauses. It always finishes the block
// that it works on.
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

// check stops the search if memory runs out or its context ends. It pauses the workers if a checkpoint or a call of
// Progress is due.
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
	if s.queued > 0 { // if no state is left, everything was visited, even if a bound was reached at the same time
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
