package foreign

import (
	"context"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// Clients with virtual time stand still, like the servers, until the runner lets time pass. The runner then knows when
// such a client is at rest, and when its next timer ends: the client then retries, renews its lease or gives up. Time
// passes from timer to timer, for the servers and all clients alike.

// Timed is a [Client] that may have virtual time.
type Timed interface {
	// Time controls the client's virtual time. It is nil if the client uses the machine's clock, as far as known.
	Time() Time
	// Begins starts the client's virtual time; since is the time since the servers' clocks began. It does nothing for a
	// client that uses the machine's clock.
	Begins(since time.Duration)
}

// Time controls the virtual time of one client.
type Time interface {
	// Set sets the client's clock; since is the time since the servers' clocks began.
	Set(since time.Duration)
	// Rest reports whether the client will do nothing until something reaches it or time passes. next is the time until
	// its next timer ends; 0 means that it has none. calling says that a call of the client is under way.
	Rest(calling bool) (rests bool, next time.Duration)
}

// timeOf controls the virtual time of client c. It is nil if c is nil or uses the machine's clock.
func timeOf(c Client) Time {
	if t, ok := c.(Timed); ok {
		return t.Time()
	}
	return nil
}

// timer is the next timer of a client with virtual time, as far as known.
type timer struct {
	rests bool          // the client is at rest, and nothing has reached it since
	ends  time.Duration // when it ends, on the clock of Runner.since; 0 if there is none. Valid if rests is true
}

// restLook is the pause between two checks of a client that is not at rest.
const restLook = 200 * time.Microsecond

// advance advances the clocks of the servers and of the clients with virtual time by d, rounded to whole milliseconds.
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

// ourTime reports whether clients should use virtual time. The server must have virtual time, and the runner must know
// of all data on its way to the server.
func (s *Runner) ourTime() bool {
	if !s.server.Ours() || len(s.handles) == 0 {
		return false
	}
	_, watched := s.handles[0].address.(gate.Watched)
	return watched
}

// tellsTime reports whether clients use virtual time. The setup client stands for all.
func (s *Runner) tellsTime() bool { return s.ourTime() && timeOf(s.handles[0].client) != nil }

// timed reports whether all clients of the run have virtual time.
func (r *run) timed() bool {
	return r.ourTime() && !slices.ContainsFunc(r.clients, func(p clientState) bool { return p.client != nil && timeOf(p.client) == nil })
}

// comeToRest waits until all given clients are at rest, for at most Config.Patience. calm is false after that.
func (s *Runner) comeToRest(ctx context.Context, all []*clientHandle) (calm bool, err error) {
	s.mu.Lock()
	for _, a := range all { // something may have reached the client since it was last checked
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

// soon waits until something has changed at the gate, for at most restLook.
func (s *Runner) soon(ctx context.Context) error {
	select {
	case <-s.wake:
	case <-time.After(restLook):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// atRest reports whether a client is at rest, and stores its next timer.
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

// awaits reports whether data is on its way from the client or to it. The caller must hold mu.
func (a *clientHandle) awaits() bool {
	if w, ok := a.address.(gate.Watched); ok && w.Underway() {
		return true
	}
	return a.behind() || !a.stalled && slices.ContainsFunc(a.connections, func(l *connection) bool { return l.unheard > l.unanswerable() })
}

// settleTimed is settle for runs in which all clients have virtual time.
func (r *run) settleTimed() error {
	calm, err := r.comeToRest(r.ctx, r.handlesInPlay())
	if err != nil {
		return err
	}
	r.mu.Lock()
	for i := range r.clients {
		a := r.clients[i].clientHandle
		if !calm && a.client != nil && !a.timer.rests && a.calling && len(a.parked) == 0 {
			r.uncontrolled.Thought++ // the client still computes
		}
		a.asleep, a.rested = a.calling && len(a.parked) == 0, false
	}
	r.mu.Unlock()
	return r.collect()
}

// calm reports whether all clients were at rest when they were last checked, and nothing has reached them since.
func (r *run) calm() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.clients, func(p clientState) bool { return p.client != nil && !p.paused && !p.timer.rests })
}

// handlesInPlay are the handles of the run's clients, each once.
func (r *run) handlesInPlay() (all []*clientHandle) {
	for i := range r.clients {
		if a := r.clients[i].clientHandle; !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// nextTimer is the time until the next timer of a client ends; 0 if there is none. It considers only the clients that
// the function of selects.
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

// anybody is true for every client. It is an argument of nextTimer.
func anybody(*clientState) bool { return true }

// sleeps reports whether the client is in an operation and waits for its timer. The caller must hold mu.
func (p *clientState) sleeps() bool { return p.busy && p.calling && len(p.parked) == 0 }

// milliseconds is d in milliseconds, rounded up.
func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// flow waits until holds is true, outside of a run, for at most limit. If client a is at rest or the server keeps it
// waiting, flow lets virtual time pass. It is false after limit.
func (s *Runner) flow(ctx context.Context, a *clientHandle, limit time.Duration, holds func() bool) (bool, error) {
	if !s.server.Ours() {
		return s.wait(ctx, limit, holds)
	}
	blocked := 0 // virtual seconds that passed because the server kept the client waiting
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

// begins initializes a client. Virtual time passes while the client is at rest.
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

// onItsWay reports whether data is on its way from a client or to it.
func (s *Runner) onItsWay(a *clientHandle) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return a.awaits()
}
