package clustered

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/cluster/designs"
	"github.com/lockproof/lockproof/adapters/nemesis"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// Config says which locks are held on which cluster, and which faults occur.
type Config struct {
	Cluster Cluster
	Trials  []Trial
	// Steps are the faults to cause. Seed is the seed that they were drawn from; it is only reported.
	Steps []nemesis.Step
	Seed  uint64
	// Settle is the time between the last fault and the audit; 0 means [DefaultSettle].
	Settle time.Duration
	// Hold is the time for which a client holds the lock before it releases it; 0 means until the faults are over.
	Hold time.Duration
	// Verify is the pause of a holder between two verify operations. Again is the pause between two attempts to
	// acquire. 0 means the default.
	Verify, Again time.Duration
	// Limit is the maximum duration of an operation; 0 means [DefaultLimit].
	Limit time.Duration
	// Properties are the properties to judge; empty means all that apply.
	Properties property.Set
	// Keep stores each history before it is judged, so that a crash of the checker does not lose it. source says where
	// the history is stored. Keep may be nil.
	Keep func(h *history.History) (source string, err error)
	// Sweep deletes the named queues of the run, after the run's clients have ended. It may be nil for a private
	// cluster, whose queues disappear with it.
	Sweep func(queues []string) error
	// Log is called with each event of the run as one line of text. It may be nil.
	Log func(string)
}

// Defaults and limits of times in a run.
const (
	// DefaultSettle is longer than nodes need to notice that other nodes are back.
	DefaultSettle = 10 * time.Second
	// DefaultLimit is longer than nodes need to notice that another node is gone.
	DefaultLimit = 20 * time.Second

	defaultVerify = 200 * time.Millisecond
	defaultAgain  = 150 * time.Millisecond

	readyLimit  = time.Minute // maximum time for all nodes to accept clients again after Settle
	beforeFault = time.Second // how long the clients work before the first fault
)

// run is a run in progress.
type run struct {
	config Config
	over   chan struct{} // closed when the clients must end their holds

	mu       sync.Mutex
	attempts []*attempt
	joined   []*attempt // attempts whose first client has acquired the attempt's lock
}

// Run holds the locks of all trials at once, during one sequence of faults of the cluster. When the faults are over and
// the nodes accept clients again, all clients end their holds, and each lock is audited. The outcomes are in the order
// of the trials. It returns an error if a fault could not be caused, or if ctx ended; the outcomes then cover the run
// until the error.
func Run(ctx context.Context, c Config) ([]Outcome, error) {
	for i := range c.Trials {
		if err := c.Trials[i].check(c.Cluster.Nodes()); err != nil {
			return nil, err
		}
	}
	c.complete()
	if err := c.mirror(ctx); err != nil {
		return nil, err
	}
	r := &run{config: c, over: make(chan struct{})}
	var begun, ended sync.WaitGroup
	for _, t := range c.Trials {
		a := &attempt{run: r, trial: t}
		r.attempts = append(r.attempts, a)
		begun.Add(1)
		ended.Go(func() { a.carryOut(ctx, begun.Done) })
	}
	begun.Wait()
	err := r.befall(ctx)
	close(r.over)
	ended.Wait()
	var outcomes []Outcome
	for _, a := range r.attempts {
		outcomes = append(outcomes, a.judge())
	}
	return outcomes, err
}

// mirror sets the policy for mirrored queues, if a trial uses them.
func (c *Config) mirror(ctx context.Context) error {
	mirrored := func(t Trial) bool { return t.Design != nil && t.Design.Mirrored }
	if !slices.ContainsFunc(c.Trials, mirrored) {
		return nil
	}
	return c.Cluster.Mirror(ctx, designs.MirroredSuffix)
}

// complete replaces zero fields by their defaults.
func (c *Config) complete() {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&c.Settle, DefaultSettle}, {&c.Limit, DefaultLimit}, {&c.Verify, defaultVerify}, {&c.Again, defaultAgain}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
}

// join registers the function that records events in a trial's history. From now on, faults of the machines are
// recorded there.
func (r *run) join(a *attempt, record func(history.Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.record = record
	r.joined = append(r.joined, a)
}

// befall causes the faults of the run, one after the other.
func (r *run) befall(ctx context.Context) error {
	r.mu.Lock()
	none := len(r.joined) == 0
	r.mu.Unlock()
	if none {
		return nil // no client holds a lock; the outcomes say why
	}
	if err := sleep(ctx, beforeFault); err != nil {
		return err
	}
	if err := r.steps(ctx); err != nil {
		return errors.Join(err, r.config.Cluster.Abandon())
	}
	return r.settle(ctx)
}

func (r *run) steps(ctx context.Context) error {
	for _, s := range r.config.Steps {
		if err := sleep(ctx, s.After); err != nil {
			return err
		}
		if err := r.step(ctx, s); err != nil {
			return errors.Join(err, r.config.Cluster.Mend(ctx))
		}
	}
	return nil
}

// step causes one step of the faults. The start of a node is recorded when it has completed; every other step is
// recorded just before it.
func (r *run) step(ctx context.Context, s nemesis.Step) error {
	r.config.Log(s.String())
	late := s.F == history.StartNode
	if !late {
		r.record(s)
	}
	err := r.config.Cluster.Befall(ctx, s)
	if err == nil && late {
		r.record(s)
	}
	return err
}

func (r *run) record(s nemesis.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.joined {
		a.record(history.Event{Process: history.Nemesis, Type: history.Info, F: s.F, Nodes: s.Nodes, To: s.To})
	}
}

// settle waits for the settle time, and then until all nodes accept clients.
func (r *run) settle(ctx context.Context) error {
	r.config.Log(fmt.Sprintf("all is mended; %s for the nodes to notice", r.config.Settle))
	if err := sleep(ctx, r.config.Settle); err != nil {
		return err
	}
	ready, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("%s after the last fault", readyLimit+r.config.Settle))
	defer cancel()
	if err := r.config.Cluster.Ready(ready); err != nil {
		return fmt.Errorf("a node does not take clients: %w", err)
	}
	r.config.Log("audit")
	return nil
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
