package stock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate/process"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Config says what to repeat, and how often.
type Config struct {
	Starter foreign.Starter // starts the clients
	Finding *histories.Counterexample
	Rounds  int           // 0 is [DefaultRounds]
	Time    time.Duration // maximum duration of all rounds; 0 is no limit
}

// DefaultRounds is the default number of rounds.
const DefaultRounds = 200

// Result is the result of the rounds.
type Result struct {
	Rounds int // completed rounds
	Wrong  int // rounds in which too many held the lock, or it could not be acquired at the end
	On     string
}

// String is the result in words.
func (r Result) String() string {
	return fmt.Sprintf("in %d of %d rounds on %s, with up to %v of delay for each command", r.Wrong, r.Rounds, r.On, jitter)
}

// Repeatable are the properties whose violations can be repeated, since they are judged by the replies that clients get.
const Repeatable = property.Set(0) | 1<<property.MutualExclusion | 1<<property.LimitRespected | 1<<property.EffectiveRelease |
	1<<property.CrashFrees | 1<<property.NoLeak | 1<<property.Progress

// ErrNot is wrapped by the error for a finding that cannot be repeated.
var ErrNot = errors.New("not repeated on a stock server")

// safety are the repeatable properties that are judged while clients work.
const safety = property.Set(0) | 1<<property.MutualExclusion | 1<<property.LimitRespected

// Run repeats a finding on stock servers. It first repeats it behind the gate, to record which client calls what, and when.
func Run(ctx context.Context, c Config) (res Result, err error) {
	if !Repeatable.Has(c.Finding.Property) {
		return res, fmt.Errorf("%w: %s is not seen by what clients are told", ErrNot, c.Finding.Property)
	}
	found, err := gated.Replay(ctx, c.Finding, c.Starter, gated.Server{})
	if err != nil {
		return res, fmt.Errorf("looking for the finding behind the gate: %w", err)
	}
	if found.Violation == nil {
		return res, fmt.Errorf("%w: the execution does not show it behind the gate any more", ErrNot)
	}
	if slices.ContainsFunc(found.Trace.Steps, func(s scenario.TraceStep) bool { return slices.Contains(broken, s.Action.Kind) }) {
		return res, fmt.Errorf("%w: its execution has a lost connection or reply, a pause or a restart, which are made behind the gate alone", ErrNot)
	}
	return repeat(ctx, &c, found.Trace, found.Violation)
}

// broken are the faults that this package cannot cause. A finding with one of them is not repeated.
var broken = []scenario.ActionKind{scenario.Drop, scenario.Lose, scenario.Pause, scenario.Restart}

// repeat makes clients repeat what they did in an execution.
func repeat(ctx context.Context, c *Config, t *scenario.Trace, v *scenario.Violation) (res Result, err error) {
	on, err := gated.ServerOf(c.Finding.Scenario.Server, c.Finding.Servers)
	if err != nil {
		return res, err
	}
	r := &run{config: c}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.start(ctx, len(t.Scenario.Clients)); err != nil {
		return res, err
	}
	res.On = "stock " + on.Name
	err = r.rounds(ctx, &res, plan(t, v), len(t.Scenario.Locks))
	return res, err
}

// run has the servers, the proxies and the clients.
type run struct {
	config  *Config
	servers []process.Stock
	proxies []*proxy
	urls    []string
	clients []foreign.Client // by number; client 0 finds out at the end whether the lock is free
	lease   time.Duration    // 0 if clients state none
	limits  bool             // clients state how many may hold the lock
}

// limit returns the limit that clients state in a call: most if they state limits, and otherwise 0, which means none.
func (r *run) limit(most int) int {
	if r.limits {
		return most
	}
	return 0
}

// start starts servers, and clients with numbers up to clients.
func (r *run) start(ctx context.Context, clients int) (err error) {
	f := r.config.Finding
	if r.servers, err = gated.Stock(f.Scenario.Server, f.Servers); err != nil {
		return err
	}
	for _, s := range r.servers {
		p, err := listen(s.Port())
		if err != nil {
			return err
		}
		r.proxies, r.urls = append(r.proxies, p), append(r.urls, s.URL(p.acceptor.Addr().String()))
	}
	for n := range clients + 1 {
		c, err := r.client(ctx, n)
		if err != nil {
			return err
		}
		r.clients = append(r.clients, c)
	}
	return nil
}

// client starts a client.
func (r *run) client(ctx context.Context, number int) (foreign.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, foreign.StartLimit)
	defer cancel()
	c, err := r.config.Starter.Start(ctx, number)
	if err != nil {
		return nil, err
	}
	options := make(map[string]any)
	for k, v := range r.config.Finding.ExecOptions {
		options[k] = v
	}
	about, err := c.Initialize(ctx, foreign.Setup{Client: foreign.ClientName(number), Lock: r.config.Finding.Kind, URLs: r.urls, Options: options})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	r.limits = about.Limits
	if about.Leases {
		r.lease = lease
	}
	return c, nil
}

// crash kills a client, waits for its call, and replaces it.
func (r *run) crash(ctx context.Context, number int, over func()) error {
	old := r.clients[number]
	err := old.Kill()
	over()
	c, wrong := r.client(ctx, number)
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	r.clients[number] = c
	return errors.Join(err, old.Close())
}

// rounds carries out rounds until there are enough, or the time is over.
func (r *run) rounds(ctx context.Context, res *Result, all []action, locks int) error {
	wanted, began := cmp.Or(r.config.Rounds, DefaultRounds), time.Now()
	for res.Rounds < wanted && (r.config.Time == 0 || res.Rounds == 0 || time.Since(began) < r.config.Time) {
		d := &round{run: r, name: fmt.Sprintf("round-%d", res.Rounds), calls: make(map[int]chan struct{})}
		if err := d.play(ctx, all); err != nil {
			return err
		}
		wrong, err := d.ended(ctx, locks)
		if err != nil {
			return err
		}
		res.Rounds++
		if wrong {
			res.Wrong++
		}
	}
	return nil
}

// ended ends a round, and reports whether the lock failed in it.
func (r *round) ended(ctx context.Context, locks int) (bool, error) {
	if safety.Has(r.run.config.Finding.Property) {
		return r.crowded(), r.tidy(ctx, locks)
	}
	return r.lost(ctx, locks)
}

// tidy makes the clients that hold something release it.
func (r *round) tidy(ctx context.Context, locks int) error {
	for _, h := range r.holds {
		if h.to != 0 || h.lock >= locks {
			continue
		}
		_, err := r.run.clients[h.client].Call(ctx, lock.Release, foreign.Params{Name: r.lock(h.lock), Slot: 1})
		if err != nil && !errors.Is(err, foreign.ErrDied) {
			return err
		}
	}
	return nil
}

// close ends all servers, proxies and clients.
func (r *run) close() error {
	var errs []error
	for _, c := range r.clients {
		errs = append(errs, c.Close())
	}
	for _, p := range r.proxies {
		errs = append(errs, p.close())
	}
	for _, s := range r.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
