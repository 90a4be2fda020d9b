package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
)

// refusalPause is how long a client waits after a refused acquire before it tries again.
const refusalPause = time.Millisecond

// load lets n clients acquire and release repeatedly. If contended, they share one lock; otherwise each has its own.
func (r *run) load(ctx context.Context, n int, contended bool) report.MeasuredLoad {
	out := report.MeasuredLoad{Clients: n, Contended: contended}
	clients, leave, err := r.crowd(ctx, n, contended)
	if err != nil {
		out.LeftOut = err.Error()
		return out
	}
	counts, failed := make([]count, n), make([]error, n)
	began := time.Now()
	e := end{over: began.Add(r.share), latest: began.Add(latestShares * r.share)}
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() { failed[i] = counts[i].work(ctx, c, &e) })
	}
	wg.Wait()
	out.Took = time.Since(began)
	var all []time.Duration
	for i := range counts {
		out.Granted, out.Refused, out.Unknown = out.Granted+len(counts[i].took), out.Refused+counts[i].refused, out.Unknown+counts[i].unknown
		all = append(all, counts[i].took...)
	}
	out.Acquire = report.NewDistribution(all)
	if err := errors.Join(append(failed, leave())...); err != nil {
		out.LeftOut = err.Error()
	}
	return out
}

// crowd connects n clients. If contended, they share one lock; otherwise each has its own. end closes the clients and
// deletes their locks.
func (r *run) crowd(ctx context.Context, n int, contended bool) (all []Client, end func() error, err error) {
	if contended {
		_, all, end, err = r.lock(ctx, n, longLease)
		return all, end, err
	}
	all = make([]Client, n)
	ends, failed := make([]func() error, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var one []Client
			if _, one, ends[i], failed[i] = r.lock(ctx, 1, longLease); failed[i] == nil {
				all[i] = one[0]
			}
		})
	}
	wg.Wait()
	end = func() error { return each(ends) }
	if err := errors.Join(failed...); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return all, end, nil
}

// each calls all functions at once, except nil ones, and returns when all have returned.
func each(all []func() error) error {
	failed := make([]error, len(all))
	var wg sync.WaitGroup
	for i, do := range all {
		if do != nil {
			wg.Go(func() { failed[i] = do() })
		}
	}
	wg.Wait()
	return errors.Join(failed...)
}

// A rate that is computed from fewer than leastGrants grants is not reliable. A load with fewer grants goes on, up to
// latestShares times its planned duration.
const (
	leastGrants  = 25
	latestShares = 6
)

// end decides when the clients of a load stop.
type end struct {
	over, latest time.Time
	granted      atomic.Int64 // number of grants to all clients together
}

// reached reports whether the clients shall stop. A load without any grant, for example on a busy machine, goes on
// for [graceLimit] beyond the latest end.
func (e *end) reached() bool {
	now := time.Now()
	switch granted := e.granted.Load(); {
	case granted >= leastGrants:
		return now.After(e.over)
	case granted > 0:
		return now.After(e.latest)
	}
	return now.After(e.latest.Add(graceLimit))
}

// count counts the results of one client's acquires.
type count struct {
	took             []time.Duration // durations of granted acquires
	refused, unknown int
}

// work acquires and releases until the end of the load. It releases the lock before it returns, unless an acquire's
// result is unknown.
func (t *count) work(ctx context.Context, c Client, e *end) error {
	for tried := false; (!tried || !e.reached()) && ctx.Err() == nil; tried = true {
		began := time.Now()
		res, err := c.Do(ctx, lock.Acquire)
		took := time.Since(began)
		switch {
		case err != nil:
			return err
		case res.Outcome == lock.Unknown:
			t.unknown++
			continue
		case !res.Held:
			t.refused++
			time.Sleep(refusalPause)
			continue
		}
		t.took = append(t.took, took)
		e.granted.Add(1)
		if _, err := c.Do(ctx, lock.Release); err != nil {
			return err
		}
	}
	return nil
}

// crashes measures the time from a holder's crash to the next grant.
func (r *run) crashes(ctx context.Context) (d report.Distribution, lease time.Duration, err error) {
	var took []time.Duration
	for i, over := 0, time.Now().Add(r.share); i < deaths && (i == 0 || time.Now().Before(over)) && ctx.Err() == nil; i++ {
		free, of, err := r.crash(ctx)
		if err != nil {
			return d, 0, err
		}
		took, lease = append(took, free), of
	}
	return report.NewDistribution(took), lease, nil
}

// graceLimit is the maximum time that a dead holder's slot may stay taken after its lease has ended.
const graceLimit = 10 * time.Second

// crash kills a holder and lets another client try to acquire until it succeeds. took is the time from the crash to
// the grant.
func (r *run) crash(ctx context.Context) (took, lease time.Duration, err error) {
	l, clients, end, err := r.lock(ctx, 2, r.lease)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, end()) }()
	holder, other := clients[0], clients[1]
	if err := new(tally).do(ctx, holder, step{op: lock.Acquire, held: true}); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	holder.Kill()
	for ctx.Err() == nil {
		res, err := other.Do(ctx, lock.Acquire)
		took := time.Since(began)
		switch {
		case err != nil:
			return 0, 0, err
		case res.Held:
			_, err := other.Do(ctx, lock.Release)
			return took, l.Lease(), err
		case took > l.Lease()+graceLimit:
			return 0, 0, fmt.Errorf("a dead holder's slot is not free after %v", took)
		}
		time.Sleep(refusalPause)
	}
	return 0, 0, ctx.Err()
}
