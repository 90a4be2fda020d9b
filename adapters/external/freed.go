package external

import (
	"errors"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// Where it is not known what on the broker holds a lock, the end of its holder may free it at once, later, or never, as far as
// anybody can see, and so may the end of one that was about to have it, or to give it back. Whether it is never, is asked when all is
// over: nobody who is alive holds the lock, and after a long time somebody wants it.

// longAfter is after how many virtual milliseconds a lock that is still taken will not be freed by its dead holder.
const longAfter = 30 * 24 * 60 * 60 * 1000

// asksForFreed reports whether it is asked for locks whose holders have died. Others may have some by what a semaphore's
// administrators did, on a connection that several share, or because they stated another limit; a persistent mutex may not be there
// any more; and for a real broker no time passes.
func (r *run) asksForFreed() bool {
	return !r.design.Known() && r.config.Kind != lock.Semaphore && !r.administers() && !r.real() && !r.shared && !r.several && !r.about.Limits
}

// mayHave reports whether a dead client held a lock, or was about to have it, or to give it back.
func (p *clientState) mayHave() bool {
	return p.dead && (p.held > 0 || p.diedIn == lock.Acquire || p.diedIn == lock.Release)
}

// freed judges whether what dead clients held can be acquired.
func (r *run) freed() error {
	if !r.asksForFreed() {
		return nil
	}
	for i := range r.clients {
		p := &r.clients[i]
		asks := r.heir(p)
		l := &r.sc.Locks[r.lockOf(p.id)]
		if !p.mayHave() || asks == nil || r.config.Kind == lock.PersistentMutex && l.Slots == 0 { // it was never made
			continue
		}
		// who does not say whether it is granted the lock has lost something that it has to see first, or will not say
		free, err := r.obtains(asks, r.place(l.Name), resetTries, func(bool) bool { return true })
		if err != nil {
			return err
		}
		r.monitor.CanBeHad(p.id, free)
	}
	return nil
}

// heir is a client that may ask for what a dead one held, nil where somebody else may have that, and not know.
func (r *run) heir(of *clientState) (asks *clientHandle) {
	for i := range r.clients {
		switch p := &r.clients[i]; {
		case p.dead:
		case r.lockOf(p.id) == r.lockOf(of.id) && (p.unsure || p.gaveUp || p.busy):
			return nil
		case p.client != nil:
			asks = p.clientHandle
		}
	}
	return asks
}

// obtains reports whether a client is granted a lock, which it gives back, now or after a long time, in so many tries. An error is
// no no where it is forgiven, by whether the client has asked the broker for anything; nor is it one if the client ends by itself.
func (r *run) obtains(a *clientHandle, name string, tries int, forgiven func(asked bool) bool) (bool, error) {
	asked := false
	r.listen(func(c *wire.Command) { asked = asked || c.Channel > 0 && c.Method.ID() != frame.ChannelOpenID })
	defer r.listen(nil)
	for range tries {
		asked = false
		res, err := a.do(r.ctx, lock.Acquire, Params{Name: name})
		if err == nil && res.Held {
			_, err = a.do(r.ctx, lock.Release, Params{Name: name, Slot: int(res.Slot)})
		}
		switch {
		case errors.Is(err, ErrDied):
			return true, a.kill()
		case err != nil || res.Held:
			return true, err
		case res.Outcome != lock.Done && forgiven(asked):
			return true, nil
		}
		r.broker.Advance(longAfter)
	}
	return false, nil
}
