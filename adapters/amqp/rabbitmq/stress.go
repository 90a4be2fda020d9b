package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// StressConfig configures a stress run on a real RabbitMQ.
type StressConfig struct {
	Target  *lock.Target // nil means the reference semaphore
	Options lock.Options // options of the lock; the target's Fix may change some. [amqplock.DefaultOptions] are safe
	// Load is the number of clients, rounds and so on. When a client dies, its socket is closed without
	// connection.close.
	stress.Load
	// InFlight lets clients die during a command as well, not only between commands. RabbitMQ 3.10.8 then breaks every lock.
	// If a connection dies just as it declares an exclusive queue, its clean-up may delete the queue of the next owner. A
	// third client then gets it as well (in 201 of 1,500 trials; rabbitmq-server #15276).
	InFlight bool
	// Restarts is the number of broker restarts during the run. The broker must have been started by this process.
	Restarts int
	// Prefix begins the names of queues on the broker; "" means a new, unique prefix.
	Prefix string
}

// check returns an error for an invalid configuration.
func (c *StressConfig) check(b *Broker) error {
	if c.Target.Backend != "" {
		return fmt.Errorf("stress of %s: expected a lock of RabbitMQ's", c.Target.Name)
	}
	options := c.Target.Settled(c.Options)
	if err := options.Check(); err != nil {
		return fmt.Errorf("stress with %w", err)
	}
	if err := c.Load.Check(c.Target.Kind); err != nil {
		return fmt.Errorf("stress with %w", err)
	}
	switch {
	case c.Restarts < 0 || c.Restarts > c.Rounds:
		return fmt.Errorf("stress with restarts %d: expected 0 to the number of rounds", c.Restarts)
	case amqplock.Table.Of(options).Connection == amqplock.SharedConnection:
		return errors.New("stress with connection=shared: expected own; one connection for all clients is for scenarios and their replay")
	case c.Restarts > 0 && !b.CanRestart():
		return fmt.Errorf("stress with restarts %d: %s was not started here and can't be restarted; name none to have one started, or ask for no restart", c.Restarts, b.Origin)
	}
	return nil
}

// Stress makes clients use a lock on a real RabbitMQ at the same time. Each client has its own connection, and all
// begin each round at one instant. In a round a client acquires, verifies a few times, and releases; an administrator
// adds, removes, creates or counts. The machines are those of the simulator.
//
// It returns the clients' observations as a history in real-time order, by a monotonic clock. An invocation is recorded
// before its first command is written, and a completion after its last reply was read. Processes are numbered as
// [spec.Event] says. The history has these events of the environment:
//
//   - Crash: a process died. It is recorded just before the socket is closed. If the broker closed the connection, or
//     stopped answering, it is recorded just before the last command that was answered.
//   - Gone: the broker has certainly dropped everything of the connection (see [disconnectObserver]). It did so at some
//     moment since the Crash, queue by queue.
//   - Restart: the broker is up again, and no client has connected to it yet.
//
// If the broker disappears, operations end as their machines see it: as fail if nothing was changed, otherwise as info.
// If it does not come back, the run ends.
//
// History and statistics are valid also if the run ended with an error, such as that of ctx; they are nil only if the
// run could not begin. At the end of the run every queue is deleted and every connection closed.
func Stress(ctx context.Context, b *Broker, c StressConfig) (*history.History, *StressStats, error) {
	if c.Target == nil {
		c.Target = amqplock.References[0]
	}
	if err := c.check(b); err != nil {
		return nil, nil, err
	}
	s, err := newStress(b, c)
	if err != nil {
		return nil, nil, fmt.Errorf("stress on %s: %w", b.Version, err)
	}
	b.note(s.names, s.queues())
	if err = s.setUp(ctx); err == nil {
		err = s.run(ctx)
	}
	untidy := b.sweep(s.names, s.queues())
	if s.panicked != nil {
		panic(s.panicked)
	}
	if err != nil {
		err = fmt.Errorf("stress on %s: %w", b.Version, err)
	}
	err = errors.Join(err, untidy)
	return s.recorder.History(c.Target.Kind, &c.Load), s.stats(), err
}
