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

// refusalPause is how long a client waits that was refused, before it tries again.
const refusalPause = time.Millisecond

// load has clients acquire and release again and again: each a lock of its own, or all one.
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

// crowd are n clients, each of a lock of its own, or all of one. end closes them and deletes their locks.
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

// each does several things at once, but for those that are nil.
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

// A rate of fewer grants than leastGrants says next to nothing: for so many a load goes on, up to latestShares of its time.
const (
	leastGrants  = 25
	latestShares = 6
)

// end is when the clients of a load stop.
type end struct {
	over, latest time.Time
	granted      atomic.Int64 // to all
}

// reached reports whether it is time. A load in which nothing at all was granted, as may be on a busy machine, goes on longer.
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

// count is what one client's acquires came to.
type count struct {
	took             []time.Duration // those that were granted
	refused, unknown int
}

// work acquires and releases until the end. At the end it holds nothing that it could release.
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

// crashes measures the time from a holder's death to the next grant.
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

// graceLimit is how long beyond its lease a dead holder's slot may stay taken.
const graceLimit = 10 * time.Second

// crash has a holder die, and another try again and again.
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
