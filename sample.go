package lockproof

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// blockSize is how many scenarios a worker takes at a time. The result does not depend on it.
const blockSize = 256

// sample is what a number of scenarios came to. Samples of disjoint scenarios add up to the same
// whatever the order.
type sample struct {
	scenarios, steps, commands, operations int
	undecided                              int                     // histories too large to decide linearizability of
	checks                                 spec.Counts             // how often each property was put to the test
	exercised                              [spec.PropertyCount]int // in how many scenarios
	first                                  [spec.PropertyCount]int // the first scenario that violates it, from 1; 0 is none
	seen                                   [sim.Sightings]int      // in how many scenarios
	costs                                  spec.Costs
	overlap                                int64 // longest stale belief beside another's, in virtual milliseconds
	overlapCommands                        int32
	overlaps                               int // scenarios with one
}

// add takes in the execution that a runner has just finished.
func (s *sample) add(i, steps int, r *sim.Runner, strength spec.Strength) {
	found, undecided := r.Judge(strength)
	s.scenarios++
	s.steps += steps
	s.commands += r.Sent()
	s.operations += r.Called()
	exercised := r.Monitor.Exercised
	switch {
	case undecided:
		s.undecided++
	case r.Called() > 0:
		exercised = exercised.With(spec.Linearizable)
		s.checks[spec.Linearizable]++
	}
	s.note(i, exercised, found, r.Seen)
	s.stale(r.Monitor.Overlap, r.Monitor.Overlaps)
}

// note takes in what the i-th execution put to the test, violated, and came to.
func (s *sample) note(i int, exercised, found spec.PropertySet, seen sim.Seen) {
	for p := range spec.PropertyCount {
		if exercised.Has(p) {
			s.exercised[p]++
		}
		if found.Has(p) && (s.first[p] == 0 || i+1 < s.first[p]) {
			s.first[p] = i + 1
		}
	}
	for k := range sim.Sightings {
		if seen.Has(k) {
			s.seen[k]++
		}
	}
}

// stale takes in how long a stale belief stood beside another's grant in an execution, in virtual
// milliseconds and in commands.
func (s *sample) stale(overlap int64, commands int32) {
	if overlap > 0 {
		s.overlaps++
	}
	s.overlap = max(s.overlap, overlap)
	s.overlapCommands = max(s.overlapCommands, commands)
}

// progress is how far a run is.
func (s *sample) progress(of int) Progress {
	p := Progress{Scenarios: s.scenarios, Of: of}
	for _, i := range s.first {
		if i > 0 {
			p.Violated++
		}
	}
	return p
}

// merge adds another sample, of other scenarios.
func (s *sample) merge(o *sample) {
	s.scenarios += o.scenarios
	s.steps += o.steps
	s.commands += o.commands
	s.operations += o.operations
	s.undecided += o.undecided
	s.overlaps += o.overlaps
	s.overlap = max(s.overlap, o.overlap)
	s.overlapCommands = max(s.overlapCommands, o.overlapCommands)
	s.costs.Merge(&o.costs)
	for p := range spec.PropertyCount {
		s.checks[p] += o.checks[p]
		s.exercised[p] += o.exercised[p]
		if o.first[p] > 0 && (s.first[p] == 0 || o.first[p] < s.first[p]) {
			s.first[p] = o.first[p]
		}
	}
	for k := range s.seen {
		s.seen[k] += o.seen[k]
	}
}

// sampling is a run over the scenarios of one seed, shared by its workers.
type sampling struct {
	target   *lock.Target
	source   *sim.Source
	strength spec.Strength
	limit    int // scenarios
	enough   func(*sample) bool
	tell     func(*sample)

	block atomic.Int64
	stop  atomic.Bool
	mu    sync.Mutex
	sum   sample
}

// run works with so many workers until all scenarios are done, enough was seen, or ctx is over.
func (s *sampling) run(ctx context.Context, workers int) *sample {
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() { s.work(ctx) })
	}
	wg.Wait()
	return &s.sum
}

func (s *sampling) work(ctx context.Context) {
	var r sim.Runner
	for !s.stop.Load() && ctx.Err() == nil {
		from := int(s.block.Add(1)-1) * blockSize
		if from >= s.limit {
			return
		}
		part := new(sample)
		r.Costs, r.Monitor.Checks = &part.costs, &part.checks
		for i := from; i < min(from+blockSize, s.limit); i++ {
			sc := s.source.Scenario(i)
			part.add(i, r.Run(s.target, &sc), &r, s.strength)
		}
		s.take(part)
	}
}

func (s *sampling) take(part *sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.merge(part)
	if s.enough != nil && s.enough(&s.sum) {
		s.stop.Store(true)
	}
	if s.tell != nil {
		s.tell(&s.sum)
	}
}

// deadline is a context that ends when the time that a run may take is over; 0 is no limit.
func deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
