package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/safetext"
)

// Run runs or resumes a campaign until it is over or ctx ends. The error is for a campaign that could not be run.
// Results that are stored by then remain for the next run.
func Run(ctx context.Context, c campaign.RunConfig) (*campaign.Outcome, error) {
	m, err := campaign.NewManifest(c.Plan)
	if err != nil {
		return nil, err
	}
	j, err := c.Plan.Job(c.Options)
	if err != nil {
		return nil, err
	}
	q, err := plant(ctx, c.Server, m)
	if err != nil {
		return nil, err
	}
	defer q.close()
	r := &run{
		Queue: q, config: c, job: j, waiting: make(map[int]stored), nudge: make(chan struct{}, 1), refusals: refusals{say: c.Said}, pick: -1, refused: make(map[int]int),
		mayRun: c.Plan.Target.Exec == "" || c.Workers > 0 || c.Plan.Permit(true, c.AllowExec) == nil,
	}
	if err := r.run(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	out, err := r.conclude(ctx)
	if err != nil {
		return nil, err
	}
	out.Finish(r.elapsed(), ctx.Err() != nil)
	r.lastPage(out)
	if r.last != nil && ctx.Err() == nil {
		r.last.Reported = true
		r.leave(r.last)
	}
	return out, nil
}

// conclude makes the report. If the target's command may not run here, it does not minimise counterexamples.
func (r *run) conclude(ctx context.Context) (*campaign.Outcome, error) {
	if !r.mayRun {
		hasty, cancel := context.WithCancel(ctx)
		cancel()
		ctx = hasty
	}
	return r.job.Conclude(ctx)
}

// run is a campaign's runner in progress: it queues shards, and reads their results.
type run struct {
	*Queue
	config campaign.RunConfig
	job    campaign.Job
	nudge  chan struct{} // signals that a worker in this process has stored a result

	began       time.Time
	before      time.Duration    // running time of the campaign in earlier runs
	seen        uint64           // revision up to which results have been read
	resumed     uint64           // revision up to which results existed when this run began
	waiting     map[int]stored   // results, by shard number, that wait for the results of earlier shards
	next        int              // the next shard whose result is to be processed
	redelivered int              // number of repeated deliveries of the processed shards
	quiet       time.Time        // time since when no result has arrived
	told        time.Time        // when progress was last reported
	last        *campaign.Status // the final status of a campaign that is over
	paged       time.Time        // when a page was last made
	paging      time.Duration    // how long making the last page took
	found       int              // number of executions in earlier runs

	refusals
	mayRun  bool        // this process may run the target: its command is allowed, or it is a lock of this module
	refused map[int]int // number of refused results, by shard number
	doubt   bool        // a false result was seen, so every shard is repeated from now on
	block   int         // index of the current block of shards; one shard of each block is repeated
	pick    int         // number of the shard to repeat
	end     int         // number of shards in all batches so far
	mu      sync.Mutex
	failed  error // why a worker in this process stopped
}

// polling is the interval at which the runner checks for results of workers in other processes.
const polling = 100 * time.Millisecond

// run distributes shards and processes results until the campaign is over.
func (r *run) run(ctx context.Context) error {
	if err := r.resume(ctx); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if r.config.Workers > 0 {
		wg.Go(func() { r.work(working) })
	}
	err := r.distribute(ctx)
	stop()
	wg.Wait()
	if err != nil {
		return err
	}
	return r.finished(ctx)
}

// resume reads the state and the results that earlier runs have stored.
func (r *run) resume(ctx context.Context) error {
	r.began, r.quiet = time.Now(), time.Now()
	text, err := r.noted(ctx, keyElapsed)
	if err != nil {
		return err
	}
	if text != nil {
		r.before, _ = time.ParseDuration(string(text)) // an invalid time counts as 0
		r.before = max(r.before, 0)
	}
	if err := r.forget(ctx, keyOver, keyFailed); err != nil {
		return err
	}
	err = r.collect(ctx)
	r.resumed = r.seen
	return err
}

// elapsed is the total running time of the campaign.
func (r *run) elapsed() time.Duration { return r.before + time.Since(r.began) }

// work runs workers in this process.
func (r *run) work(ctx context.Context) {
	err := r.runWorkers(ctx, r.job, r.config.Options, r.config.Workers, r.poke)
	if err != nil && ctx.Err() == nil {
		r.mu.Lock()
		r.failed = err
		r.mu.Unlock()
	}
	r.poke()
}

func (r *run) poke() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// distribute queues one batch of shards after the other, and processes their results. It ends when no shards are left,
// or when the campaign has a reason to stop.
func (r *run) distribute(ctx context.Context) error {
	for {
		batch := r.job.Batch()
		if len(batch) == 0 {
			return nil
		}
		r.end = batch[len(batch)-1].Number + 1
		if err := r.take(ctx, batch); err != nil {
			return err
		}
		if r.job.Enough() != "" {
			return nil
		}
		if err := r.refill(ctx, batch); err != nil {
			return err
		}
		for r.next <= batch[len(batch)-1].Number {
			if err := r.wait(ctx, batch); err != nil {
				return err
			}
			if err := r.take(ctx, batch); err != nil {
				return err
			}
			if r.job.Enough() != "" || r.overtime() {
				r.rest(ctx, batch)
				return nil
			}
		}
	}
}

// take processes, in order of their shards, the results that have arrived. It stops at the first missing result.
func (r *run) take(ctx context.Context, batch []campaign.Shard) error {
	first := batch[0].Number
	for r.next-first < len(batch) && r.job.Enough() == "" {
		a, there := r.waiting[r.next]
		if !there {
			break
		}
		if taken, err := r.takeIn(ctx, batch[r.next-first], a); err != nil || !taken {
			return err
		}
		r.next++
		r.tell()
	}
	r.tell()
	return nil
}

// takeIn checks a shard's result and adds it to the job, unless it is invalid.
func (r *run) takeIn(ctx context.Context, s campaign.Shard, a stored) (taken bool, err error) {
	delete(r.waiting, s.Number)
	result, err := r.examine(ctx, s, a)
	if err != nil || result == nil {
		return false, err
	}
	r.redelivered += int(min(max(a.Delivered, 1)-1, mostRedelivered))
	r.job.Take(s, result)
	return true, nil
}

// mostRedelivered limits how many repeated deliveries of one shard are counted.
const mostRedelivered = 1000

// rest is called when the campaign stops within a batch. It processes results that arrived after a missing one.
func (r *run) rest(ctx context.Context, batch []campaign.Shard) {
	for _, s := range batch {
		if a, there := r.waiting[s.Number]; there && r.job.Enough() == "" {
			_, _ = r.takeIn(ctx, s, a) // an invalid result is left out
		}
	}
}

// overtime reports whether the campaign's time is over.
func (r *run) overtime() bool {
	limit := time.Duration(r.config.Plan.Budget.Time)
	return limit > 0 && r.elapsed() >= limit
}

// refill queues those shards of a batch that have no result.
func (r *run) refill(ctx context.Context, batch []campaign.Shard) error {
	r.quiet = time.Now()
	missing := slices.DeleteFunc(slices.Clone(batch), func(s campaign.Shard) bool {
		_, there := r.waiting[s.Number]
		return there || s.Number < r.next
	})
	if len(missing) == 0 {
		return nil
	}
	return r.fill(ctx, missing)
}

// wait waits for a result. If none arrives for a whole lease although no worker is busy, the server has lost shards;
// then it queues them again.
func (r *run) wait(ctx context.Context, batch []campaign.Shard) error {
	select {
	case <-r.nudge:
	case <-time.After(polling):
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	failed := r.failed
	r.mu.Unlock()
	if failed != nil {
		return failed
	}
	if err := r.collect(ctx); err != nil {
		return err
	}
	if time.Since(r.quiet) < r.config.Plan.LeaseTime() {
		return nil
	}
	r.quiet = time.Now()
	if why, err := r.noted(ctx, keyFailed); err != nil || why != nil {
		return errors.Join(err, fmt.Errorf("a worker could not go on: %s", safetext.Escape(string(why))))
	}
	idle, err := r.empty(ctx)
	if err != nil || !idle {
		return err
	}
	return r.refill(ctx, batch)
}

// empty reports whether the queue is empty and no worker is busy.
func (r *run) empty(ctx context.Context) (empty bool, err error) {
	err = r.persist(ctx, func(ctx context.Context) error {
		info, err := r.workers.Info(ctx)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			empty = true
			return nil
		}
		if err == nil {
			empty = info.NumPending == 0 && info.NumAckPending == 0
		}
		return err
	})
	return empty, err
}

// collect reads the results that have arrived since the last call.
func (r *run) collect(ctx context.Context) (err error) {
	r.seen, err = r.arrived(ctx, r.seen, func(a stored) {
		if a.shard >= r.next {
			r.waiting[a.shard] = a
			r.quiet = time.Now()
		}
	}, func(why error) { r.refuse("campaign %s: %v", r.manifest.Plan.Name, why) })
	return err
}

// finished marks the campaign as over, so that workers in other processes end.
func (r *run) finished(ctx context.Context) error {
	why := r.job.Enough()
	if why == "" {
		why = "all shards are done"
	}
	s := r.status()
	s.Over, s.Left = why, 0
	if r.config.Watch != nil {
		r.config.Watch(s)
	}
	r.leave(s)
	r.last = s
	if err := r.note(ctx, keyElapsed, []byte(r.elapsed().String())); err != nil {
		return err
	}
	if err := r.note(ctx, keyOver, []byte(why)); err != nil {
		return err
	}
	return r.persist(ctx, func(ctx context.Context) error { return r.shards.Purge(ctx) })
}
