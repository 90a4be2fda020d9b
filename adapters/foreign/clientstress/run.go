package clientstress

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// runner carries out a stress run.
type runner struct {
	config   Config
	lock     string // name of the lock on the broker
	name     string // the clients' own name for their implementation
	proxy    *wire.Proxy
	declared plugin.Declared // queues that clients have declared, as far as proxies have seen that
	recorder stress.Recorder
	barrier  *stress.Barrier
	clients  []*client
	auditors []*client
	told     []Told
	telling  sync.Mutex // guards told
	auditing bool       // the rounds are over, and one client at a time works
	elapsed  time.Duration
	stop     context.CancelCauseFunc
}

// run makes all clients work until all rounds are over, ctx is done, or a client cannot continue.
func (s *runner) run(ctx context.Context) error {
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	for i := range s.config.Members() {
		s.clients = append(s.clients, s.client(i))
	}
	s.recorder.Begin()
	var workers sync.WaitGroup
	if s.config.Holds != nil {
		s.holdLong(ctx)
	} else {
		for _, c := range s.clients {
			workers.Go(func() { c.work(ctx) })
		}
		workers.Wait()
	}
	s.elapsed = time.Duration(s.recorder.Now())
	if ctx.Err() == nil {
		s.audit(ctx)
	}
	everybody := slices.Concat(s.clients, s.auditors)
	for _, c := range everybody { // only after the audit, as this may free slots that other clients would be granted
		workers.Go(func() { c.leave(c.cut) })
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var errs []error
	for _, c := range everybody {
		errs = append(errs, c.trouble)
	}
	return errors.Join(errs...)
}

// client is a new client with index i, from 0. Clients that audit have the last indexes.
func (s *runner) client(i int) *client {
	return &client{runner: s, part: s.config.Part(s.config.Kind, int32(i+1))}
}

// most is the maximum number of clients, including those that audit.
func (s *runner) most() int { return s.config.Members() + s.config.MaxSlots() + 1 }

// history is the recorded history. If all grants had the same slot number, or none, the history does not distinguish
// slots.
func (s *runner) history() *history.History {
	h := s.recorder.History(s.config.Kind, &s.config.Load)
	h.Clients, h.GoneMayFree = s.most(), true
	numbers := make(map[uint16]bool)
	for _, e := range h.Events {
		if e.F.Op() == lock.Acquire && e.Held {
			numbers[e.Slot] = true
		}
	}
	if h.Kind == lock.Semaphore && len(numbers) < 2 && (s.config.MaxSlots() > 1 || numbers[history.AnySlot]) {
		for i := range h.Events {
			h.Events[i].Slot = history.AnySlot
		}
	}
	return h
}

// stats adds up the statistics of all clients.
func (s *runner) stats() *Stats {
	out := &Stats{Name: s.name, Elapsed: s.elapsed, Rounds: s.barrier.Rounds(), Told: s.told}
	if s.proxy != nil {
		out.Wire = new(gate.Counts)
	}
	for _, c := range slices.Concat(s.clients, s.auditors) {
		out.add(&c.tally)
		if s.proxy != nil {
			out.Wire.Add(&c.wire)
		}
	}
	return out
}
