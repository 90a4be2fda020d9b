package sample

import (
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// blockSize is the number of scenarios that a worker takes at a time. The result does not depend on it.
const blockSize = 256

// sampling is a run over the scenarios of one seed. Its workers share it.
type sampling struct {
	Config
	labels  engine.Labels
	known   property.Set // properties for which the user knows a violation
	source  *sim.Source
	allowed engine.Allowance

	from, to int // the run covers the scenarios [from, to)
	block    atomic.Int64
	stop     atomic.Bool
	mu       sync.Mutex
	sum      tally.Tally
	taken    int                  // number of blocks, from the first on, that sum includes
	early    map[int]*tally.Tally // completed blocks that wait for an earlier block
	compared [property.Most]int   // number of executions of each property that were compared with the known violations
}

// run runs the scenarios [from, to) until they are done, a violation ends the run, or the time is over.
func (s *sampling) run(from, to int) *tally.Tally {
	s.from, s.to = from, to
	var wg sync.WaitGroup
	for range max(1, s.Workers) {
		wg.Go(s.work)
	}
	wg.Wait()
	return &s.sum
}

func (s *sampling) work() {
	r := sim.NewRunner(s.Own)
	if s.Coverage {
		r.Coverage = new(sim.Coverage)
	}
	var sc scenario.Scenario
	for !s.stop.Load() && s.allowed.Whole.Err() == nil {
		block := int(s.block.Add(1) - 1)
		from := s.from + block*blockSize
		if from >= s.to {
			return
		}
		part := new(tally.Tally)
		r.Costs, r.Monitor.Checks = &part.Costs, &part.Checks
		for i := from; i < min(from+blockSize, s.to); i++ {
			sc = s.source.Scenario(i)
			part.Add(i, r.Run(s.Target, &sc), r, s.FailedAcquire, s.Properties)
			part.CoverAll(i, r.Coverage)
		}
		s.take(block, part)
	}
}

// take adds the result of a block of scenarios. Blocks are added in order. Blocks after the one with the violation that
// ends the run are dropped, so that the result does not depend on the workers' speed.
func (s *sampling) take(block int, part *tally.Tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.early == nil {
		s.early = make(map[int]*tally.Tally)
	}
	s.early[block] = part
	for next := s.early[s.taken]; next != nil && !s.enough(); next = s.early[s.taken] {
		delete(s.early, s.taken)
		s.taken++
		s.add(next)
	}
	if s.enough() || s.allowed.Spent(s.sum.Violated() != 0) {
		s.stop.Store(true)
	}
	if s.Progress != nil {
		s.Progress(s.sum.Progress(s.to - s.from))
	}
}

// enough reports whether a violation was seen that ends the run. A violation of a property with known violations does
// not end it.
func (s *sampling) enough() bool { return s.sum.Violated()&s.Until&^s.known != 0 }

// add adds the result of a block, and reports properties that are violated for the first time.
func (s *sampling) add(part *tally.Tally) {
	before := s.sum.Violated()
	s.sum.Merge(part)
	if s.Found == nil {
		return
	}
	for _, p := range (s.sum.Violated() &^ before).BySeverity() {
		s.told(p, s.firstSeen(p))
	}
}
