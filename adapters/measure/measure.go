package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
)

// Server is a real server whose locks are measured.
type Server interface {
	// Name returns the server's name and version, for reports.
	Name() string
	// Lock creates a lock with one slot, under a name that nothing else uses. If the lock has leases, they last at
	// least as long as lease.
	Lock(ctx context.Context, t *lock.Target, lease time.Duration) (Lock, error)
}

// Lock is a lock on a server, whose operations are measured.
type Lock interface {
	// Client connects a client. number is different for each client of the lock, from 1.
	Client(ctx context.Context, number int) (Client, error)
	// Lease returns how long a slot stays held if its holder does not renew it; 0 means without end.
	Lease() time.Duration
	// Close deletes everything that the lock has on the server.
	Close() error
}

// Client is a connected client of a lock. Only Kill may be called while another method runs.
type Client interface {
	// Do carries out an operation. It sends the first command, and returns after the last reply. The result says how
	// the operation ended; the error means that the server cannot be used.
	Do(ctx context.Context, op lock.Op) (lock.Result, error)
	// Spent returns the cost of all operations so far.
	Spent() Spent
	// Kill cuts the client's connection, as a crash does. After it only Close may be called.
	Kill()
	// Close closes the connection cleanly.
	Close()
}

// Spent is the cost of operations: the number of commands, round trips and bytes.
type Spent struct {
	Commands, RoundTrips int
	Sent, Received       int64 // numbers of bytes
}

func (s Spent) plus(o Spent) Spent {
	return Spent{s.Commands + o.Commands, s.RoundTrips + o.RoundTrips, s.Sent + o.Sent, s.Received + o.Received}
}

func (s Spent) minus(o Spent) Spent {
	return Spent{s.Commands - o.Commands, s.RoundTrips - o.RoundTrips, s.Sent - o.Sent, s.Received - o.Received}
}

// Load configures the measurements.
type Load struct {
	Clients []int         // numbers of clients at once, such as 1 and 10; each number is measured separately
	Time    time.Duration // approximate duration of all measurements together
	Lease   time.Duration // lease of a holder that is killed; 0 means half a second
}

// longLease is a lease that does not end during a measurement. shortLease is the default lease of a killed holder.
const (
	longLease  = time.Minute
	shortLease = 500 * time.Millisecond
)

// leastShare is the minimum duration of one measurement.
const leastShare = 50 * time.Millisecond

// deaths is the maximum number of holders that are killed.
const deaths = 5

// Run measures a lock. It returns an error if the server cannot be used at all. If only a load fails, for example
// because the server does not accept so many clients, the load's entry in the report has the error.
func Run(ctx context.Context, s Server, t *lock.Target, l Load) (*report.Measured, error) {
	r := run{server: s, target: t, share: max(leastShare, l.Time/time.Duration(2*len(l.Clients)+2)), lease: cmp.Or(l.Lease, shortLease)}
	m := &report.Measured{Server: s.Name()}
	var err error
	if m.Operations, err = r.alone(ctx); err != nil {
		return nil, fmt.Errorf("measuring %s on %s: %w", t.Name, s.Name(), err)
	}
	for _, contended := range []bool{false, true} {
		for _, n := range l.Clients {
			m.Loads = append(m.Loads, r.load(ctx, n, contended))
		}
	}
	if m.Free, m.Lease, err = r.crashes(ctx); err != nil {
		return nil, fmt.Errorf("measuring %s on %s: %w", t.Name, s.Name(), err)
	}
	return m, ctx.Err()
}

// run holds the configuration for measuring one lock.
type run struct {
	server Server
	target *lock.Target
	share  time.Duration // duration of one measurement
	lease  time.Duration // lease of a holder that is killed
}

// lock creates a lock and connects the given number of clients to it. end closes the clients and deletes the lock.
func (r *run) lock(ctx context.Context, clients int, lease time.Duration) (l Lock, all []Client, end func() error, err error) {
	if l, err = r.server.Lock(ctx, r.target, lease); err != nil {
		return nil, nil, nil, err
	}
	end = func() error {
		for _, c := range all {
			c.Close()
		}
		return l.Close()
	}
	for n := range clients {
		c, err := l.Client(ctx, n+1)
		if err != nil {
			return nil, nil, nil, errors.Join(fmt.Errorf("connecting client %d: %w", n+1, err), end())
		}
		all = append(all, c)
	}
	return l, all, end, nil
}

// tally holds the measurements of one operation.
type tally struct {
	took  []time.Duration
	spent Spent
}

// settleLimit is how long [tally.do] repeats an operation that does not end as expected although no other client
// competes. For example, a token that was returned without waiting for a confirmation arrives a little later.
const settleLimit = time.Second

// do repeats an operation until it ends as expected, and records the duration and cost of that last attempt.
func (t *tally) do(ctx context.Context, c Client, s step) error {
	for first := time.Now(); ; time.Sleep(refusalPause) {
		before, began := c.Spent(), time.Now()
		res, err := c.Do(ctx, s.op)
		took := time.Since(began)
		switch held := res.Outcome == lock.Done && (res.Held || s.op == lock.Release); {
		case err != nil:
			return err
		case held == s.held:
			t.took = append(t.took, took)
			t.spent = t.spent.plus(c.Spent().minus(before))
			return nil
		case time.Since(first) > settleLimit:
			return fmt.Errorf("%s by one client alone: %s %s", s.op, res.Outcome, res.Reason)
		}
	}
}

func (t *tally) result(name string) report.MeasuredOperation {
	n := float64(max(1, len(t.took)))
	return report.MeasuredOperation{
		Operation: name, Commands: float64(t.spent.Commands) / n, RoundTrips: float64(t.spent.RoundTrips) / n,
		Sent: float64(t.spent.Sent) / n, Received: float64(t.spent.Received) / n, Latency: report.NewDistribution(t.took),
	}
}

// step is an operation of one client. held is whether the client shall hold the lock after it.
type step struct {
	name string
	by   int
	op   lock.Op
	held bool
}

// round returns the operations to measure without competition. In one of them a second client tries to acquire while
// the first holds the lock.
func (r *run) round() (all []step) {
	all = append(all, step{"acquire", 0, lock.Acquire, true}, step{"refused", 1, lock.Acquire, false})
	for _, op := range r.target.Operations() {
		if op == lock.Verify || op == lock.Refresh {
			all = append(all, step{op.String(), 0, op, true})
		}
	}
	return append(all, step{"release", 0, lock.Release, true})
}

// alone measures the operations without competition. It repeats the operations of [run.round] until the time is up.
func (r *run) alone(ctx context.Context) (out []report.MeasuredOperation, err error) {
	_, clients, end, err := r.lock(ctx, 2, longLease)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	round := r.round()
	tallies := make([]tally, len(round))
	for i, over := 0, time.Now().Add(r.share); (i == 0 || time.Now().Before(over)) && ctx.Err() == nil; i++ {
		if i == 1 {
			clear(tallies) // ignore the first round, which includes one-time work such as loading a script
		}
		for k, s := range round {
			if err := tallies[k].do(ctx, clients[s.by], s); err != nil {
				return nil, err
			}
		}
	}
	for k, s := range round {
		out = append(out, tallies[k].result(s.name))
	}
	return out, nil
}
