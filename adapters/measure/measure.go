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

// Server is a real server.
type Server interface {
	// Name is the server with its version, for people to read.
	Name() string
	// Lock makes a lock with one slot that nobody else uses. Leases, where it has any, last at least so long.
	Lock(ctx context.Context, t *lock.Target, lease time.Duration) (Lock, error)
}

// Lock is a lock on a server.
type Lock interface {
	// Client connects a client. Those of one lock have different numbers, from 1.
	Client(ctx context.Context, number int) (Client, error)
	// Lease is how long a hold lasts that nobody renews; 0 is for ever.
	Lease() time.Duration
	// Close deletes whatever the lock has on the server.
	Close() error
}

// Client is a connected client of a lock. Only Kill may be called beside something else.
type Client interface {
	// Do carries out an operation, from before its first command is sent until its last reply is there. The error is that
	// of a server which cannot be used; how the operation ended is in the result.
	Do(ctx context.Context, op lock.Op) (lock.Result, error)
	// Spent is what the operations have taken so far.
	Spent() Spent
	// Kill ends the client's connection without a goodbye, as a crash does. It is not used again, but for Close.
	Kill()
	// Close ends the connection in good order.
	Close()
}

// Spent is what operations took.
type Spent struct {
	Commands, RoundTrips int
	Sent, Received       int64 // bytes
}

func (s Spent) plus(o Spent) Spent {
	return Spent{s.Commands + o.Commands, s.RoundTrips + o.RoundTrips, s.Sent + o.Sent, s.Received + o.Received}
}

func (s Spent) minus(o Spent) Spent {
	return Spent{s.Commands - o.Commands, s.RoundTrips - o.RoundTrips, s.Sent - o.Sent, s.Received - o.Received}
}

// Load says what is measured.
type Load struct {
	Clients []int         // how many use a lock at once; each number is one measurement
	Time    time.Duration // for all of it, about
	Lease   time.Duration // of a holder that dies, which is waited for; 0 is half a second
}

// longLease outlasts what is done with a lock, and shortLease is waited for.
const (
	longLease  = time.Minute
	shortLease = 500 * time.Millisecond
)

// leastShare is how long a load lasts at least: in less there is nothing to be seen.
const leastShare = 50 * time.Millisecond

// deaths is how many holders die, at most.
const deaths = 5

// Run measures a lock. The error is for a server that could not be used at all; where it could not take as many clients as
// were asked for, the load says so.
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

// run is the measurements of one lock.
type run struct {
	server Server
	target *lock.Target
	share  time.Duration // for one of them
	lease  time.Duration // of a holder that dies
}

// lock makes a lock with so many clients. end closes them and deletes it.
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

// tally is what was measured of one operation.
type tally struct {
	took  []time.Duration
	spent Spent
}

// settleLimit is how long an operation may end otherwise than it should for one client alone: a token that was given back
// without an answer is there a little later.
const settleLimit = time.Second

// do carries out an operation with a clock round it until it ends as it should, and takes in that one.
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

// step is an operation of one client, and whether it is told that it holds the lock.
type step struct {
	name string
	by   int
	op   lock.Op
	held bool
}

// round are the operations that are measured of one client alone; another one finds the lock taken.
func (r *run) round() (all []step) {
	all = append(all, step{"acquire", 0, lock.Acquire, true}, step{"refused", 1, lock.Acquire, false})
	for _, op := range r.target.Operations() {
		if op == lock.Verify || op == lock.Refresh {
			all = append(all, step{op.String(), 0, op, true})
		}
	}
	return append(all, step{"release", 0, lock.Release, true})
}

// alone measures the operations of one client alone, round by round.
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
			clear(tallies) // the first round has what is done once only, such as making a script known
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
