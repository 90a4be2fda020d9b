package rabbitmq

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// stressRun is a stress run on a real broker.
type stressRun struct {
	broker      *Broker
	config      StressConfig
	layout      *amqplock.Layout
	names       *amqp.Names // names of queues on the broker
	lock        amqplock.Implementation
	recorder    stress.Recorder
	disconnects *disconnectObserver
	clients     []*stressClient
	barrier     *stress.Barrier
	restarting  sync.RWMutex // read-locked while a client connects, locked while the broker restarts
	restarts    int
	elapsed     time.Duration

	workers  sync.WaitGroup
	stop     context.CancelCauseFunc
	panics   sync.Once
	panicked any // the first panic in one of the run's goroutines
}

func newStress(b *Broker, c StressConfig) (*stressRun, error) {
	if c.Prefix == "" {
		c.Prefix = b.Prefix()
	}
	names := new(amqp.Names)
	s := &stressRun{broker: b, config: c, layout: amqplock.LayoutOf(c.Target, names, stress.Lock, c.MaxSlots())}
	s.lock = amqplock.New(c.Target, c.Options, s.layout)
	s.barrier = s.config.Barrier()
	var err error
	if s.names, err = prefixed(names, c.Prefix); err != nil {
		return nil, err
	}
	s.disconnects = newUndertaker(s)
	return s, nil
}

// queues are the numbers of all queues that the run may create.
func (s *stressRun) queues() []amqp.Queue {
	all := make([]amqp.Queue, s.names.Len())
	for i := range all {
		all[i] = amqp.Queue(i + 1)
	}
	return all
}

// setUp declares the initial slots of the lock, as the lock's administrator would.
func (s *stressRun) setUp(ctx context.Context) error {
	o, err := newObserver(ctx, s.broker.URL, s.names)
	if err != nil {
		return err
	}
	defer o.Close()
	return declareSlots(o, s.config.Target, s.config.Options, s.layout, s.config.Slots)
}

// declareSlots declares the first slots of a lock. A lock that is a true mutex has no slots to declare.
func declareSlots(o *observer, t *lock.Target, options lock.Options, layout *amqplock.Layout, slots int) error {
	settled := amqplock.Table.Of(t.Settled(options))
	for slot := 1; slot <= slots && t.Kind != lock.Mutex; slot++ {
		cmd := amqp.Command{Method: amqp.QueueDeclare, Queue: layout.A[slot], Args: settled.Arguments}
		if settled.Durable {
			cmd.Flags = amqp.Durable
		}
		if r := o.ask(cmd); r.Kind != amqp.OK {
			return fmt.Errorf("declaring slot %d: expected ok, got %s", slot, r)
		}
	}
	return nil
}

// run makes all clients work until all rounds are done, ctx is done, or the broker is lost.
func (s *stressRun) run(ctx context.Context) error {
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	s.barrier.Begin = func(round int) { s.begin(ctx, round) }
	s.recorder.Begin()
	noticed := make(chan struct{})
	go func() {
		defer close(noticed)
		defer s.rescue()
		s.disconnects.work(ctx)
	}()
	for i := range s.config.Members() {
		s.clients = append(s.clients, newStressClient(s, int32(i+1)))
	}
	for _, c := range s.clients {
		s.startClient(func() { c.work(ctx) })
	}
	s.workers.Wait()
	for _, c := range s.clients {
		c.hangUp()
	}
	s.elapsed = time.Duration(s.recorder.Now())
	s.disconnects.rest()
	<-noticed
	return context.Cause(ctx)
}

// begin starts a round. The last client that is ready for it calls begin.
func (s *stressRun) begin(ctx context.Context, round int) {
	every := s.config.Rounds / (s.config.Restarts + 1)
	if due := s.config.Restarts > 0 && round > 0 && round%max(1, every) == 0; due && s.restarts < s.config.Restarts {
		s.restarts++
		s.startClient(func() { s.restart(ctx) })
	}
}

// restart restarts the broker while clients work. Clients that lose their connections wait until it runs again.
func (s *stressRun) restart(ctx context.Context) {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	if err := s.broker.Restart(ctx); err != nil {
		s.stop(err)
		return
	}
	s.recorder.World(history.Restart, history.Nemesis)
}

// startClient runs work in a goroutine of the run.
func (s *stressRun) startClient(work func()) {
	s.workers.Add(1)
	go func() {
		defer s.workers.Done()
		defer s.rescue()
		work()
	}()
}

// rescue stops the run when one of its goroutines panics. The run cleans up before the panic continues.
func (s *stressRun) rescue() {
	if p := recover(); p != nil {
		s.stop(fmt.Errorf("panic: %v", p))
		s.panics.Do(func() { s.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack()) })
	}
}

// connectLimit is the maximum time that a client tries to connect to a broker that does not answer.
const connectLimit = 5 * time.Second

// connect opens a connection. The caller must hold the lock restarting, so that the broker is running.
func (s *stressRun) connect(ctx context.Context, names *amqp.Names) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		conn, err := Dial(ctx, s.broker.URL, names)
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		sleep(ctx, pause)
	}
}
