package stock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
)

// callLimit is the maximum duration of a call.
const callLimit = 10 * time.Second

// round is one repetition of the finding.
type round struct {
	run   *run
	name  string
	calls map[int]chan struct{} // calls in progress, by client; the channel is closed when the call has returned

	mu    sync.Mutex
	now   int // number of events so far
	holds []hold
	err   error // the error of a client that broke the protocol
}

// hold is a period during which a client certainly held a lock. It begins when the client's acquire succeeds. It ends
// with the client's next call, its crash, or the end of its lease.
type hold struct {
	client, lock, limit int
	from, to            int // numbers of events; to is 0 while the hold lasts
	until               time.Time
}

// call makes a client call an operation, without waiting for it.
func (r *round) call(ctx context.Context, a action) {
	r.await(a.client)
	done := make(chan struct{})
	r.calls[a.client] = done
	if a.op != lock.Acquire {
		r.end(a.client, a.lock)
	}
	go func() {
		defer close(done)
		time.Sleep(rand.N(jitter))
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		until := time.Now().Add(lease)
		res, err := r.run.clients[a.client].Call(ctx, a.op, foreign.Params{Name: r.lock(a.lock), Slot: 1, Limit: r.run.limit(a.limit), Lease: r.run.lease})
		switch {
		case err != nil && !errors.Is(err, foreign.ErrDied) && ctx.Err() == nil:
			r.fail(fmt.Errorf("client %d: %w", a.client, err))
		case err == nil && res.Outcome == lock.Done && res.Held && a.op != lock.Release:
			r.begin(a, until)
		}
	}()
}

// lock returns the name of the round's lock with index place.
func (r *round) lock(place int) string { return fmt.Sprintf("%s-%d", r.name, place) }

// await waits until a client's call has returned.
func (r *round) await(client int) {
	if done := r.calls[client]; done != nil {
		<-done
	}
}

// begin records that a client holds a lock.
func (r *round) begin(a action, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	if r.run.lease == 0 {
		until = time.Time{}
	}
	r.lapse()
	r.holds = append(r.holds, hold{client: a.client, lock: a.lock, limit: max(1, a.limit), from: r.now, until: until})
}

// end ends a client's hold of the lock with index place. If place is negative, it ends all holds of the client.
func (r *round) end(client, place int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	r.lapse()
	for i := range r.holds {
		if h := &r.holds[i]; h.to == 0 && h.client == client && (place < 0 || h.lock == place) {
			h.to = r.now
		}
	}
}

// lapse ends the holds whose leases are over. mu is held.
func (r *round) lapse() {
	for i := range r.holds {
		if h := &r.holds[i]; h.to == 0 && !h.until.IsZero() && time.Now().After(h.until) {
			h.to = r.now
		}
	}
}

// fail records the first error, which ends the run.
func (r *round) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

// crowded reports whether a lock ever had more simultaneous holders than it allows.
func (r *round) crowded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.holds {
		beside, most := 0, h.limit
		for _, o := range r.holds {
			if o.lock == h.lock && o.from <= h.from && (o.to == 0 || o.to > h.from) {
				beside++
				most = max(most, o.limit)
			}
		}
		if beside > most {
			return true
		}
	}
	return false
}

// play carries out the actions of a round, and waits for all calls.
func (r *round) play(ctx context.Context, all []action) error {
	for _, a := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch a.kind {
		case begins:
			r.call(ctx, a)
		case returns:
			r.await(a.client)
		case passes:
			time.Sleep(a.sleep)
		case crashes:
			if r.calls[a.client] != nil {
				time.Sleep(rand.N(2 * jitter)) // so that the crash comes at a random moment of the call
			}
			r.end(a.client, -1)
			if err := r.run.crash(ctx, a.client, func() { r.await(a.client) }); err != nil {
				return err
			}
		}
	}
	for client := range r.calls {
		r.await(client)
	}
	return r.err
}

// lost reports whether a lock of the round cannot be acquired after all clients have released it and all leases are
// over.
func (r *round) lost(ctx context.Context, locks int) (lost bool, err error) {
	for client := range r.calls {
		r.end(client, -1)
		for place := range locks {
			_, err := r.run.clients[client].Call(ctx, lock.Release, foreign.Params{Name: r.lock(place), Slot: 1})
			if err != nil && !errors.Is(err, foreign.ErrDied) {
				return false, err
			}
		}
	}
	if r.run.lease > 0 {
		time.Sleep(lease + lease/4)
	}
	fresh := r.run.clients[0]
	for place := range locks {
		p := foreign.Params{Name: r.lock(place), Limit: r.run.limit(1), Slot: 1, Lease: r.run.lease}
		got := false
		for range 4 {
			res, err := fresh.Call(ctx, lock.Acquire, p)
			if err != nil {
				return false, err
			}
			if got = res.Outcome == lock.Done && res.Held; got {
				break
			}
			time.Sleep(jitter)
		}
		if !got {
			return true, nil
		}
		if _, err := fresh.Call(ctx, lock.Release, p); err != nil {
			return false, err
		}
	}
	return false, nil
}
