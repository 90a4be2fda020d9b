package clientstress

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/adapters/wire"
)

// runner is a run.
type runner struct {
	config   Config
	lock     string // its name on the broker
	name     string // what clients call what they are
	proxy    *wire.Proxy
	declared external.Declared // by clients, as far as that was seen
	recorder stress.Recorder
	barrier  *stress.Barrier
	clients  []*client
	elapsed  time.Duration
	// numberless says that slots are messages without numbers.
	numberless bool
	stop       context.CancelCauseFunc
}

// run has everybody work until all rounds are over, ctx is, or a client can't go on.
func (s *runner) run(ctx context.Context) error {
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	for i := range s.config.Members() {
		s.clients = append(s.clients, &client{runner: s, part: s.config.Part(s.config.Kind, int32(i+1))})
	}
	s.recorder.Begin()
	var workers sync.WaitGroup
	for _, c := range s.clients {
		workers.Go(func() { c.work(ctx) })
	}
	workers.Wait()
	s.elapsed = time.Duration(s.recorder.Now())
	for _, c := range s.clients { // not earlier: whoever works could be given what another one's end has freed
		workers.Go(func() { c.leave(c.cut) })
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var errs []error
	for _, c := range s.clients {
		errs = append(errs, c.trouble)
	}
	return errors.Join(errs...)
}

// stats adds up what everybody did.
func (s *runner) stats() *Stats {
	out := &Stats{Name: s.name, Elapsed: s.elapsed, Rounds: s.barrier.Rounds()}
	if s.proxy != nil {
		out.Wire = new(wire.Counts)
	}
	for _, c := range s.clients {
		out.add(&c.tally)
		if s.proxy != nil {
			out.Wire.Add(&c.wire)
		}
	}
	return out
}
