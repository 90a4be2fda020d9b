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
	Rounds  int           // number of rounds; 0 means [DefaultRounds]
	Time    time.Duration // maximum duration of all rounds; 0 means no limit
}

// DefaultRounds is the default number of rounds.
const DefaultRounds = 200

// Result is the result of all rounds.
type Result struct {
	Rounds int // completed rounds
	Wrong  int // rounds in which too many clients held the lock, or in which the lock could not be acquired at the end
	On     string
}

// String says in how many of the rounds the lock failed, and on which server.
func (r Result) String() string {
	return fmt.Sprintf("in %d of %d rounds on %s, with up to %v of delay for each command", r.Wrong, r.Rounds, r.On, jitter)
}

// Repeatable are the properties whose violations can be repeated on stock servers, because clients' replies alone show
// them.
const Repeatable = property.Set(0) | 1<<property.MutualExclusion | 1<<property.LimitRespected | 1<<property.EffectiveRelease |
	1<<property.CrashFrees | 1<<property.NoLeak | 1<<property.Progress

// ErrNot is wrapped by the error for a finding that cannot be repeated.
var ErrNot = errors.New("not repeated on a stock server")

// safety are the repeatable properties that can be violated while clients work. The others are judged at the end of a
// round.
const safety = property.Set(0) | 1<<property.MutualExclusion | 1<<property.LimitRespected

// Run repeats a finding on stock servers. It first replays the finding behind the gate, to record which client calls
// which operation, and when.
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

// broken are the faults that cannot be caused on stock servers. A finding with such a fault is not repeated.
var broken = []scenario.ActionKind{scenario.Drop, scenario.Lose, scenario.Pause, scenario.Restart}

// repeat makes clients repeat the execution t on stock servers, in many rounds.
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

// run is a run in progress, with its servers, proxies and clients.
type run struct {
	config  *Config
	servers []process.Stock
	proxies []*proxy
	urls    []string
	clients []foreign.Client // indexed by number; client 0 tests at the end whether the lock is free
	lease   time.Duration    // lease that clients ask for; 0 if they ask for none
	limits  bool             // clients state the maximum number of holders
}

// limit returns the maximum number of holders to state in a call: most if clients state limits, otherwise 0.
func (r *run) limit(most int) int {
	if r.limits {
		return most
	}
	return 0
}

// start starts the servers, and clients with the numbers 0 to clients.
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

// client starts the client with the given number.
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

// crash kills a client, waits until its call has returned, and starts a new client in its place.
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

// rounds runs rounds until there are enough, or the time is over.
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

// tidy makes clients release everything that they still hold.
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
