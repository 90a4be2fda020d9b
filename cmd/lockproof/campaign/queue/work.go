package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/histories/secret"
)

// Work carries out shards of a campaign until the campaign or ctx ends. It returns unfinished shards to the queue.
func Work(ctx context.Context, c campaign.WorkConfig) error {
	q, plan, err := join(ctx, c)
	if err != nil {
		return err
	}
	defer q.close()
	j, err := plan.Job(c.Options)
	if err != nil {
		return err
	}
	var done atomic.Int64
	return q.runWorkers(ctx, j, c.Options, c.Workers, func() {
		if n := int(done.Add(1)); c.Done != nil {
			c.Done(n)
		}
	})
}

// runWorkers runs n workers until the campaign is over, or one of them fails.
func (q *Queue) runWorkers(ctx context.Context, j campaign.Job, o campaign.Options, n int, done func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	host, _ := os.Hostname() // the name is only shown to users
	var wg sync.WaitGroup
	for i := range n {
		w := worker{Queue: q, job: j, refusals: refusals{say: o.Said}, name: fmt.Sprintf("%s-%d-%d", host, os.Getpid(), i+1), done: done}
		wg.Go(func() {
			if err := w.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// worker carries out shards one after the other.
type worker struct {
	*Queue
	job  campaign.Job
	name string
	done func()
	refusals
}

// run carries out shards until the campaign is over.
func (w *worker) run(ctx context.Context) error {
	for {
		message, err := w.next(ctx)
		if err != nil {
			return err
		}
		if message == nil {
			why, err := w.noted(ctx, keyOver)
			if err != nil || why != nil {
				return err
			}
			continue
		}
		if err := w.carry(ctx, message); err != nil {
			return err
		}
	}
}

// next returns the message of the next shard; nil if there is none at the moment.
func (w *worker) next(ctx context.Context) (message jetstream.Msg, err error) {
	err = w.persist(ctx, func(ctx context.Context) (err error) {
		waiting, cancel := context.WithTimeout(ctx, idle)
		defer cancel()
		message, err = w.workers.Next(jetstream.FetchContext(waiting))
		if waiting.Err() != nil || errors.Is(err, jetstream.ErrNoMessages) || errors.Is(err, nats.ErrTimeout) {
			return ctx.Err()
		}
		return err
	})
	return message, err
}

// carry carries out a shard unless it has a result already. It stores the result, and only then acknowledges the shard.
func (w *worker) carry(ctx context.Context, message jetstream.Msg) error {
	s, err := decodeShard(w.job, message.Data())
	if err != nil {
		w.refuse("queue %s: a message among the shards is refused: %v", w.Queue.name, err)
		_ = message.Term() // without this the message would be delivered and refused again
		return nil
	}
	done, err := w.Queue.done(ctx, s)
	if err != nil {
		return err
	}
	if done {
		acknowledge(message)
		return nil
	}
	delivered := uint64(1)
	if about, err := message.Metadata(); err == nil {
		delivered = about.NumDelivered
	}
	began := time.Now()
	stop := w.vouch(message)
	result, err := w.job.Work(ctx, s)
	stop()
	if err != nil {
		return w.failed(ctx, s, message, err)
	}
	data, err := json.Marshal(result)
	if err != nil {
		return err
	}
	if _, err := w.store(ctx, s, &answer{
		Shard: s.Number, Worker: w.name, Delivered: delivered, Seconds: time.Since(began).Seconds(), Result: data,
	}); err != nil {
		return err
	}
	w.done()
	acknowledge(message)
	return nil
}

// decodeShard decodes a message of the queue. Any user of the queue may have written it. The error is for a message
// that is not a shard of the campaign.
func decodeShard(j campaign.Job, data []byte) (s campaign.Shard, err error) {
	if err := json.Unmarshal(data, &s, json.RejectUnknownMembers(true)); err != nil {
		return s, fmt.Errorf("%d bytes: %w", len(data), err)
	}
	return s, j.Holds(s)
}

// acknowledge tells the server that a shard is done. If that message is lost, the shard is delivered again, and the
// next worker finds its result.
func acknowledge(message jetstream.Msg) { _ = message.Ack() }

// vouch signals repeatedly that the worker of a shard is alive, until stop is called.
func (w *worker) vouch(message jetstream.Msg) (stop func()) {
	ticker, ended := time.NewTicker(w.manifest.Plan.LeaseTime()/4), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				_ = message.InProgress() // if the server is gone, a later signal may reach it
			case <-ended:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(ended) }
}

// failed records why a shard could not be carried out, and returns the shard to the queue. A shard that was interrupted
// is returned without a record.
func (w *worker) failed(ctx context.Context, s campaign.Shard, message jetstream.Msg, err error) error {
	_ = message.Nak() // without this the shard would be delivered again only when its lease is over
	if ctx.Err() != nil {
		_ = w.nc.FlushTimeout(asking)
		return ctx.Err()
	}
	err = fmt.Errorf("shard %d: %w", s.Number, err)
	return errors.Join(err, w.note(ctx, keyFailed, []byte(secret.HideCommand(err.Error()))))
}
