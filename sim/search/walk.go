package search

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// WalkOptions configures random walks.
type WalkOptions struct {
	// Seed and a walk's number completely determine the walk.
	Seed  uint64
	Walks int // 0 is [DefaultWalks]
	// Steps is the maximal number of steps of one walk; 0 is [scenario.MaxSteps].
	Steps int
	// Workers is the number of parallel walks; 0 is one for each processor. The result does not depend on it.
	Workers int
	// Illegal reports whether the history of a walk is not linearizable. It is called for walks for which the monitor
	// has constructed no linearization. If it is nil, their histories are not judged.
	Illegal func([]scenario.Action) bool
}

// DefaultWalks is the number of walks if WalkOptions.Walks is 0.
const DefaultWalks = 10_000

// Walked is the result of random walks. It is a sample: a violation that it has not found may still exist.
type Walked struct {
	Walks   int64
	Steps   int64
	Longest int
	Cut     int64 // walks that ended at the bound of steps
	States  int64 // different states, up to symmetry
	// Unwitnessed is the number of operations that completed while the monitor had no linearization of the execution.
	// It is set to 0 if the histories of all these walks were judged legal. Judged is the number of histories that were
	// judged.
	Unwitnessed, Judged int64
	Found               property.Set
	// First has, for each violated property, the actions of the first walk that violates it, up to the violation.
	First    map[property.Property][]scenario.Action
	Coverage Coverage
}

// Walk takes random executions from the initial state to a state without further actions. It uses memo tables, and is
// therefore as fast as a search. It needs no queue, so it also works for configurations that are too large to visit.
func Walk(ctx context.Context, b sim.Bounds, opts WalkOptions) *Walked {
	if opts.Walks == 0 {
		opts.Walks = DefaultWalks
	}
	if opts.Steps == 0 {
		opts.Steps = scenario.MaxSteps
	}
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	w := newWalks(b, opts, false)
	if w.run(ctx); w.timed.Load() && w.alone {
		w = newWalks(b, opts, true)
		w.run(ctx)
	}
	return &w.res
}

func newWalks(b sim.Bounds, opts WalkOptions, unmemoised bool) *walks {
	w := &walks{
		plan: newPlan(b, Reductions{Symmetry: true}.For(&b)), opts: opts, seen: newFingerprints(),
		first: make(map[property.Property]int64),
	}
	w.slow(unmemoised)
	return w
}

func (s *walks) run(ctx context.Context) {
	defer s.seen.free()
	var wg sync.WaitGroup
	for range s.opts.Workers {
		wg.Go(func() { s.walk(ctx) })
	}
	wg.Wait()
	s.res.States = s.seen.count()
	s.trace()
	if s.opts.Illegal != nil && s.bounds.Properties.Has(property.Linearizable) {
		s.judgeUnwitnessed(ctx)
	}
}

// walks is the state of a set of random walks that is under way.
type walks struct {
	*plan
	opts  WalkOptions
	seen  *fingerprints
	next  atomic.Int64 // the number of the next walk
	mu    sync.Mutex
	res   Walked
	first map[property.Property]int64 // the number of the first walk that violates each property
	// unwitnessed has the numbers of the walks for which the monitor has no linearization.
	unwitnessed []int64
}

// walk takes walks in one worker, until all workers together have taken the requested number.
func (s *walks) walk(ctx context.Context) {
	k := newWalker(s)
	for ctx.Err() == nil && !(s.timed.Load() && s.alone) {
		i := s.next.Add(1) - 1
		if i >= int64(s.opts.Walks) {
			break
		}
		k.run(i)
		k.look()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.res
	r.Walks += k.res.Walks
	r.Steps += k.res.Steps
	r.Longest = max(r.Longest, k.res.Longest)
	r.Cut += k.res.Cut
	r.Unwitnessed += k.res.Unwitnessed
	r.Found |= k.res.Found
	r.Coverage.Merge(&k.cover)
	s.unwitnessed = append(s.unwitnessed, k.unwitnessed...)
	for p, i := range k.first {
		if j, ok := s.first[p]; !ok || i < j {
			s.first[p] = i
		}
	}
}

// trace repeats the first walk that violates each property, and records its actions.
func (s *walks) trace() {
	s.res.First = make(map[property.Property][]scenario.Action)
	k := newWalker(s)
	k.noting = true
	for p := range property.Property(property.Most) {
		if i, ok := s.first[p]; ok {
			k.until, k.took = property.Set(0).With(p), nil
			k.run(i)
			s.res.First[p] = k.took
		}
	}
}

// judgeUnwitnessed repeats the walks for which the monitor has no linearization, and judges their histories until one
// is illegal.
func (s *walks) judgeUnwitnessed(ctx context.Context) {
	slices.Sort(s.unwitnessed)
	k := newWalker(s)
	k.noting = true
	for _, i := range s.unwitnessed {
		if ctx.Err() != nil || s.res.Judged == maxJudged {
			return
		}
		k.took = nil
		k.run(i)
		s.res.Judged++
		if s.opts.Illegal(k.took) {
			s.res.Found, s.res.First[property.Linearizable] = s.res.Found.With(property.Linearizable), k.took
			return
		}
	}
	s.res.Unwitnessed = 0
}
