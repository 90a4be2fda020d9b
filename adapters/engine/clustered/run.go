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
	// Steps are the faults. Seed is the seed that they were drawn from, for reports.
	Steps []nemesis.Step
	Seed  uint64
	// Settle is the time between the last fault and the audit; 0 is [DefaultSettle].
	Settle time.Duration
	// Hold is the duration of a hold; 0 is until the end.
	Hold time.Duration
	// Verify is the pause between two verifies, and Again is the pause between two attempts; 0 is the default.
	Verify, Again time.Duration
	// Limit is the maximum duration of an operation; 0 is [DefaultLimit].
	Limit time.Duration
	// Properties are those to judge; empty is all that apply.
	Properties property.Set
	// Keep stores each history before it is judged, so that it is not lost whatever happens next. source says where it is.
	// Keep may be nil.
	Keep func(h *history.History) (source string, err error)
	// Sweep deletes queues of the run, by their names, after its clients have ended. It may be nil: on a private cluster the
	// queues end with the cluster.
	Sweep func(queues []string) error
	// Log is called with each event, in one line. It may be nil.
	Log func(string)
}

// Defaults of a run.
const (
	// DefaultSettle is longer than nodes take to notice that others are back.
	DefaultSettle = 10 * time.Second
	// DefaultLimit is longer than nodes take to notice that another is gone.
	DefaultLimit = 20 * time.Second

	defaultVerify = 200 * time.Millisecond
	defaultAgain  = 150 * time.Millisecond

	readyLimit  = time.Minute // for all nodes to accept clients again after the last fault
	beforeFault = time.Second // for which both clients are at work before it
)

// run is a running run.
type run struct {
	config Config
	over   chan struct{} // closed when holds end

	mu       sync.Mutex
	attempts []*attempt
	joined   []*attempt // whose first client holds its lock
}

// Run holds the locks of all trials at once, during one sequence of faults of the cluster. When the faults have ended and
// the nodes accept clients again, all holds end and each lock is audited. The outcomes are in the order of the trials. The
// error is for faults that could not be carried out, and for the end of ctx; the outcomes contain what was seen until then.
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

// complete sets the defaults of zero fields.
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

// join makes the faults of the machines be recorded in a trial's history from now on.
func (r *run) join(a *attempt, record func(history.Event)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.record = record
	r.joined = append(r.joined, a)
}

// befall carries out the steps of the faults, one after the other.
func (r *run) befall(ctx context.Context) error {
	r.mu.Lock()
	none := len(r.joined) == 0
	r.mu.Unlock()
	if none {
		return nil // the outcomes say why
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

// step carries out one step of the faults. The end of a fault is recorded after it, everything else just before.
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

// settle waits until the nodes have noticed that the faults are over, and accept clients.
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
