package clientstress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Config configures a stress run: the clients, the real broker, and the load. Starter, URL and Load are required.
type Config struct {
	Starter foreign.Starter
	Kind    lock.Kind
	Options map[string]any // options of the target, given to every client
	URL     string         // the broker's address
	// URLs are the addresses of the broker's nodes, if there are several: client k uses the k-th, and the list is
	// repeated. If empty, all clients use URL.
	URLs []string
	// Holds makes clients hold the lock for a long time, instead of in rounds, while faults affect the broker. nil
	// means rounds.
	Holds *Holds
	// Proxy makes each client reach the broker through its own proxy, which counts the traffic. The broker's address
	// must then begin with amqp://.
	Proxy bool
	// Load is the number of clients, rounds and so on. A client that is to die is killed between two of its operations.
	stress.Load
	// Limit is the maximum duration of an operation. If one takes longer, its outcome is unknown, and its client is
	// killed. 0 means [DefaultLimit].
	Limit time.Duration
	// Sweep deletes queues from the broker, whether they exist or not: those with the names of the guidelines and, with
	// proxies, all that clients have declared. If it is nil, what clients leave stays.
	Sweep func(queues []string) error
	// Notes registers what clients create on the broker: with proxies everything, otherwise only the queues that Sweep
	// is told to delete. It may be nil.
	Notes plugin.Notes
}

// DefaultLimit is the default of Config.Limit. It is long, because a client that exceeds it is killed, and the history
// cannot say what its operation did.
const DefaultLimit = 10 * time.Second

// Stats are statistics of a stress run.
type Stats struct {
	Name       string        // the clients' own name for their implementation
	Elapsed    time.Duration // duration of the rounds, with the time to replace clients between them
	Rounds     int           // number of rounds begun
	Operations int           // number of operations completed
	Crashes    int           // number of clients killed because of Load.CrashShare
	Died       int           // number of clients that ended by themselves
	Late       int           // number of operations that took longer than the limit
	Unclear    int           // number of operations whose outcome the client did not know
	Wire       *gate.Counts  // traffic through the proxies; nil without proxies
	Told       []Told        // messages by which clients could know that they may have lost the lock; see Holds
}

// add adds the statistics in o.
func (s *Stats) add(o *Stats) {
	s.Operations += o.Operations
	s.Crashes += o.Crashes
	s.Died += o.Died
	s.Late += o.Late
	s.Unclear += o.Unclear
}

// Run makes external clients use a lock on a real broker at the same time, without a schedule: all clients begin each
// round at the same moment. In a round a client acquires, verifies a few times, and releases; an administrator adds,
// removes, creates or counts. Operations that clients do not offer are not called.
//
// Run returns what the clients saw as a history in real-time order: an invocation is recorded before the client is
// called, and a completion when the client has answered. One life of a client is one process, numbered as
// [history.Event] says. A client whose operation took too long, or has an unknown result, is killed and replaced before
// the next round.
//
// The history claims no more than was seen:
//
//   - Crash is recorded just before a client is killed, or after it was found dead. Without Holds, Gone is not recorded,
//     since Run does not see when the broker drops what a dead client had. A dead client's slot may become free at any
//     moment after the crash, or never.
//   - The reason for a refused acquire is unknown. A refusal says something about the lock only in the audit.
//   - The reason for a negative verify is unknown: the client may or may not have given up the slot.
//   - If all grants have the same slot number, or none, slots are not recorded. The history then only tells how many clients
//     hold the lock.
//   - Without Holds, connections are not recorded. A client that reconnects while it holds nothing continues as the same
//     process. If a connection ended while its client holds a slot, the client would be blamed for what it could not know.
//     Run assumes that only a crash ends a connection, so the broker must not be restarted during the run.
//
// When all rounds are over, the lock is audited like a run at the gate: see [history.Audit].
//
// Clients that answer in time are killed between operations only. If a connection dies just as it declares an exclusive
// queue, RabbitMQ 3.10.8 may delete the queue of the next owner (rabbitmq-server #15276), and the lock would be blamed.
//
// The setup client creates the lock before the first round, and destroys it after the last if it offers destroy. If the
// run ends with an error (the error of ctx, or of a client that can't be started or breaks the protocol), history and
// statistics are what was recorded up to then. They are nil if the run could not begin. Every client has ended when Run
// returns.
func Run(ctx context.Context, c Config) (*history.History, *Stats, error) {
	if err := c.Load.Check(c.Kind); err != nil {
		return nil, nil, fmt.Errorf("stress with %w", err)
	}
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	s := &runner{config: c, lock: c.prefix() + stress.Lock}
	s.barrier = s.config.Load.Barrier()
	if c.Proxy {
		proxy, err := wire.ProxyTo(c.URL)
		if err != nil {
			return nil, nil, err
		}
		proxy.Declaring = s.declaring
		s.proxy = proxy
	}
	for _, q := range s.usual() {
		s.note(q, "")
	}
	if err := s.setUp(ctx); err != nil {
		return nil, nil, errors.Join(err, s.sweep())
	}
	err := errors.Join(s.run(ctx), s.clear(ctx))
	if h := c.Holds; h != nil && h.Close != nil {
		err = errors.Join(err, h.Close(context.WithoutCancel(ctx), s.lock))
	}
	return s.history(), s.stats(), err
}

// prefix begins the name of the lock.
func (c *Config) prefix() string {
	if c.Notes != nil {
		return c.Notes.Prefix()
	}
	return stress.Prefix()
}

// custody starts the setup client and makes it carry out op on the lock. With NoOp it only reads what the client
// declares about itself.
func (s *runner) custody(ctx context.Context, op lock.Op, slots int) (err error) {
	l, err := s.begin(ctx, 0, 0, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.end(false)) }()
	s.name = l.about.Name
	if op == lock.NoOp || op == lock.Destroy && !l.offers(op) {
		return nil
	}
	if !l.offers(op) && l.about.Limits { // nothing to create: slots are only the limits that callers state
		return nil
	}
	if !l.offers(op) {
		return fmt.Errorf("%s does not offer %s: there is no way to make a lock to prove", l.about.Name, op)
	}
	ctx, cancel := context.WithTimeout(ctx, foreign.StartLimit)
	defer cancel()
	r, err := l.client.Call(ctx, op, foreign.Params{Name: s.lock, Slots: slots})
	if err == nil && r.Outcome != lock.Done {
		err = fmt.Errorf("%s %s on the broker by a client alone: expected ok, got %s", op, s.lock, r.Outcome)
	}
	return err
}

// setUp creates the lock, if it has slots to begin with.
func (s *runner) setUp(ctx context.Context) error {
	op := lock.Create
	if s.config.Slots == 0 {
		op = lock.NoOp
	}
	if h := s.config.Holds; h != nil && h.SetUp != nil {
		if err := h.SetUp(ctx, s.lock); err != nil {
			return err
		}
	}
	return s.custody(ctx, op, s.config.Slots)
}

// clear destroys the lock, even if the run was interrupted. If Sweep then deletes what is left, an error of destroy is
// ignored.
func (s *runner) clear(ctx context.Context) error {
	if s.config.Holds != nil && ctx.Err() != nil { // a node may be down, so that destroy cannot work
		return s.sweep()
	}
	op := lock.Destroy
	if s.config.Kind == lock.Mutex {
		op = lock.NoOp
	}
	tidying := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		tidying, cancel = context.WithTimeout(tidying, interruptedLimit)
		defer cancel()
	}
	err := s.custody(tidying, op, 0)
	if s.config.Sweep == nil {
		return err
	}
	return s.sweep()
}

// interruptedLimit is the maximum time for destroying the lock after an interrupt.
const interruptedLimit = 5 * time.Second

// sweep deletes what may be left, if Config.Sweep is set: the queues with the names of the amqp-locks guidelines, and
// the queues that clients have declared through proxies.
func (s *runner) sweep() error {
	if s.config.Sweep == nil {
		return nil
	}
	queues := s.usual()
	for _, name := range s.declared.Queues() {
		if s.config.Notes != nil || stress.Marked(name) { // other queues may have existed before the run
			queues = append(queues, name)
		}
	}
	slices.Sort(queues)
	return s.config.Sweep(slices.Compact(queues))
}

// usual are the names of the lock's queues according to the amqp-locks guidelines.
func (s *runner) usual() []string { return plugin.Usual(s.lock, s.config.MaxSlots()) }

// declaring records that a client is about to declare a queue or an exchange. The other name is "".
func (s *runner) declaring(queue, exchange string) {
	s.note(queue, exchange)
	s.declared.Take(queue)
}

func (s *runner) note(queue, exchange string) {
	if s.config.Notes != nil {
		s.config.Notes.Note(queue, exchange)
	}
}
