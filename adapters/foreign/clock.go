package foreign

import (
	"context"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// Clients whose time is ours stand still until we let time pass, as the servers do. It is then known, not guessed, when such a client
// is at rest, and when it will do something by itself: its timer ends, and it tries again, renews its lease or gives up. Time passes
// from timer to timer, for the servers and all clients alike.

// Timed is a [Client] whose time may be ours.
type Timed interface {
	// Time is the client's time, nil where that is the machine's, as far as it is known.
	Time() Time
	// Begins has the client's time begin so long after the servers' clocks did, if it is not the machine's.
	Begins(since time.Duration)
}

// Time is a client's time.
type Time interface {
	// Set has it be so long after the servers' clocks began.
	Set(since time.Duration)
	// Rest reports whether the client does nothing before something reaches it or time passes, and in how much time it then does
	// something by itself; 0 is never. calling says that a call of it is under way.
	Rest(calling bool) (rests bool, next time.Duration)
}

// timeOf is the time of a client, nil where that is the machine's, or nobody is there.
func timeOf(c Client) Time {
	if t, ok := c.(Timed); ok {
		return t.Time()
	}
	return nil
}

// timer is what is known of a client whose time is ours.
type timer struct {
	rests bool          // it is at rest, and nothing has reached it since
	ends  time.Duration // when it does something by itself, by the clock of [Runner.since]; 0 is never. It counts while it rests
}

// restLook is how long is waited before a client is looked at again that was not at rest.
const restLook = 200 * time.Microsecond

// advance lets time pass for the servers and for the clients whose time is ours, in whole milliseconds.
func (s *Runner) advance(d time.Duration) {
	d = time.Duration(milliseconds(d)) * time.Millisecond
	s.since += d
	s.mu.Lock()
	for _, a := range s.everybody() {
		if t := timeOf(a.client); t != nil {
			t.Set(s.since)
		}
		if a.timer.ends > 0 && a.timer.ends <= s.since {
			a.timer = timer{}
		}
	}
	s.mu.Unlock()
	s.server.Advance(d.Milliseconds())
}

// ourTime reports whether clients are to have our time: that of the server is ours, and all that is on its way to it is known.
func (s *Runner) ourTime() bool {
	if !s.server.Ours() || len(s.handles) == 0 {
		return false
	}
	_, watched := s.handles[0].address.(gate.Watched)
	return watched
}

// tellsTime reports whether clients have our time, as far as the one that sets up shows.
func (s *Runner) tellsTime() bool { return s.ourTime() && timeOf(s.handles[0].client) != nil }

// timed reports whether the time of all who play is ours.
func (r *run) timed() bool {
	return r.ourTime() && !slices.ContainsFunc(r.clients, func(p clientState) bool { return p.client != nil && timeOf(p.client) == nil })
}

// comeToRest waits until each of some clients is at rest, or for as long as patience allows.
func (s *Runner) comeToRest(ctx context.Context, all []*clientHandle) (calm bool, err error) {
	s.mu.Lock()
	for _, a := range all { // something may have reached it since
		a.timer = timer{}
	}
	s.mu.Unlock()
	began := time.Now()
	defer func() { s.spent.Waited(time.Since(began), calm) }()
	for end := began.Add(s.config.Patience); ; {
		awake := 0
		for _, a := range all {
			if !s.atRest(a) {
				awake++
			}
		}
		s.mu.Lock()
		excess := s.excess
		s.mu.Unlock()
		if awake == 0 || excess != nil {
			return awake == 0, excess
		}
		if time.Now().After(end) {
			return false, nil
		}
		if err := s.soon(ctx); err != nil {
			return false, err
		}
	}
}

// soon waits until something has changed, or for a moment.
func (s *Runner) soon(ctx context.Context) error {
	select {
	case <-s.wake:
	case <-time.After(restLook):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// atRest reports whether a client is at rest, and notes it.
func (s *Runner) atRest(a *clientHandle) bool {
	s.mu.Lock()
	t, calling, awaits := timeOf(a.client), a.calling, a.awaits()
	known := a.client == nil || a.paused || a.timer.rests
	s.mu.Unlock()
	if known || t == nil || awaits {
		return known || t == nil
	}
	rests, next := t.Rest(calling)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !rests || a.calling != calling || a.awaits() {
		return false
	}
	a.timer = timer{rests: true}
	if next > 0 {
		a.timer.ends = s.since + time.Duration(milliseconds(next))*time.Millisecond
	}
	return true
}

// awaits reports whether something is on its way from the client or to it. mu is held.
func (a *clientHandle) awaits() bool {
	if w, ok := a.address.(gate.Watched); ok && w.Underway() {
		return true
	}
	return a.behind() || !a.stalled && slices.ContainsFunc(a.connections, func(l *connection) bool { return l.unheard > l.unanswerable() })
}

// settleTimed is settle where the time of all clients is ours.
func (r *run) settleTimed() error {
	calm, err := r.comeToRest(r.ctx, r.handlesInPlay())
	if err != nil {
		return err
	}
	r.mu.Lock()
	for i := range r.clients {
		a := r.clients[i].clientHandle
		if !calm && a.client != nil && !a.timer.rests && a.calling && len(a.parked) == 0 {
			r.uncontrolled.Thought++ // it computes
		}
		a.asleep, a.rested = a.calling && len(a.parked) == 0, false
	}
	r.mu.Unlock()
	return r.collect()
}

// handlesInPlay are the clients of the run, each once.
func (r *run) handlesInPlay() (all []*clientHandle) {
	for i := range r.clients {
		if a := r.clients[i].clientHandle; !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// nextTimer is in how much time the first timer ends of clients for which something holds; 0 is never.
func (r *run) nextTimer(of func(*clientState) bool) (next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		p := &r.clients[i]
		if p.client == nil || p.paused || !p.timer.rests || p.timer.ends == 0 || !of(p) {
			continue
		}
		if in := p.timer.ends - r.since; next == 0 || in < next {
			next = in
		}
	}
	return next
}

// anybody holds of every client.
func anybody(*clientState) bool { return true }

// sleeps reports whether a client goes on with its operation when its timer ends. mu is held.
func (p *clientState) sleeps() bool { return p.busy && p.calling && len(p.parked) == 0 }

// milliseconds are as many as it takes for some time to have passed.
func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// flow waits until something holds of a client outside of a run, and lets time pass for it whenever it is at rest, or the server keeps
// it waiting. It is false if that takes longer than it may.
func (s *Runner) flow(ctx context.Context, a *clientHandle, limit time.Duration, holds func() bool) (bool, error) {
	if !s.server.Ours() {
		return s.wait(ctx, limit, holds)
	}
	blocked := 0 // virtual seconds for which the server has kept it waiting
	for end := time.Now().Add(limit); ; {
		s.mu.Lock()
		ok, excess := holds(), s.excess
		waits := a.blocked()
		a.timer = timer{}
		s.mu.Unlock()
		switch {
		case ok || excess != nil || time.Now().After(end):
			return ok, excess
		case waits && blocked < longestBlocked:
			blocked++
			s.advance(time.Second)
			continue
		case timeOf(a.client) != nil && s.atRest(a) && a.timer.ends > 0:
			s.advance(a.timer.ends - s.since)
			continue
		}
		if err := s.soon(ctx); err != nil {
			return false, err
		}
	}
}

// begins makes the first call of a client. Time passes for it whenever it is at rest.
func (s *Runner) begins(ctx context.Context, a *clientHandle, client Client, in Setup) (about About, err error) {
	if t, ok := client.(Timed); ok {
		t.Begins(s.since)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		about, err = Introduce(ctx, client, in)
	}()
	for {
		select {
		case <-over:
			return about, err
		case <-time.After(restLook):
		}
		t := timeOf(client)
		if t == nil || s.onItsWay(a) {
			continue
		}
		if rests, next := t.Rest(true); rests && next > 0 && !s.onItsWay(a) {
			s.advance(next)
		}
	}
}

// onItsWay reports whether something is on its way from a client or to it.
func (s *Runner) onItsWay(a *clientHandle) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return a.awaits()
}
