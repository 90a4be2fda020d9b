package external

import (
	"context"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// A client whose command is at the gate seems to wait for the reply. It may not: it may write more messages first, have
// another thread that sends something, or answer its call without waiting until something is closed. What it does so
// is waited for once it was seen.

// mostAhead is how much clients are waited for that send without waiting.
const mostAhead = 64

// waiting is where a client stands that has a command at the gate that is answered, and seems to wait for that. It is
// zero where it has none. mu is held.
func (a *clientHandle) waiting() cause {
	if n := len(a.parked); n > 0 && a.calling && a.parked[n-1].Replies {
		return cause{op: a.doing, method: a.parked[n-1].Method.ID(), sent: a.since}
	}
	return cause{}
}

// standing is waiting, more exactly where clients are known to write on now and then: by how much their operation was
// answered, and how last. What they do is decided by that. mu is held.
func (a *clientHandle) standing() cause {
	at := a.waiting()
	if at.method == frame.BasicPublishID && a.runner.habit(at).total > 0 {
		at.heard, at.last = a.heard, a.last
	}
	return at
}

// closing reports whether clients may not wait for the reply to a command, since it tells them nothing new.
func closing(method frame.ID) bool {
	return method == frame.ConnectionCloseID || method == frame.ChannelCloseID || method == frame.BasicCancelID
}

// limitAhead is how long is waited for a client to go on while a command of its waits for the reply. How many messages
// it writes without waiting may be another number each time: that it writes no more is nothing unusual.
func (h *habit) limitAhead(method frame.ID, t *Timing) time.Duration {
	switch {
	case method == frame.BasicPublishID && (h.total > 0 || h.looks < habitLooks):
		return min(t.Batch, t.Patience)
	case method == frame.BasicPublishID:
		return 0
	case closing(method):
		return h.limit(0, t.Closing, t)
	}
	return h.limit(0, 0, t)
}

// learnAhead takes in whether a client went on. It is false where it is known to and did not.
func (h *habit) learnAhead(method frame.ID, goes bool) bool {
	switch {
	case goes:
		return h.learn(0, 1)
	case method == frame.BasicPublishID:
		h.looks++
		return true
	}
	return h.learn(0, 0)
}

// outrun waits for what clients do that have commands at the gate and are known not to wait for the replies. It is
// false where that was waited for in vain.
func (s *Runner) outrun(ctx context.Context, a *clientHandle) (came bool, err error) {
	came = true
	for range mostAhead {
		s.mu.Lock()
		due := !a.steady && a.waiting() != cause{}
		s.mu.Unlock()
		if !due {
			break
		}
		if _, err := s.wait(ctx, s.config.Patience, func() bool { return !a.behind() }); err != nil {
			return came, err
		}
		goes, usual, err := s.awaitAhead(ctx, a)
		came = came && usual
		if err != nil || !goes {
			return came, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.waits = a.standing()
	a.steady = a.waits != cause{}
	return came, nil
}

// awaitBatch waits, in a run that is measured with more patience than others, for more of what a client writes in one go.
// Where it was seen to write more, or is new, that was waited for when the message came to the gate.
func (r *run) awaitBatch(p *clientState) error {
	if r.burst <= r.config.Batch {
		return nil
	}
	_, err := r.wait(r.ctx, r.burst, func() bool { return !p.likelyBatch() })
	return err
}

// awaitAhead waits for a client to go on without its reply, where it may. usual is false where it was known to and did
// not.
func (s *Runner) awaitAhead(ctx context.Context, a *clientHandle) (goes, usual bool, err error) {
	s.mu.Lock()
	at, since, limit := a.standing(), a.since, time.Duration(0)
	a.waits, a.steady, a.looked = at, at != cause{}, false
	if a.steady && !a.paused && !a.asleep {
		limit = s.habit(at).limitAhead(at.method, &s.config.Timing)
		a.steady = limit == 0
	}
	s.mu.Unlock()
	if limit == 0 {
		return false, true, nil
	}
	began := time.Now()
	goes, err = s.wait(ctx, limit, func() bool { return !a.calling || a.since != since })
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.overrun {
		return goes, true, err
	}
	usually := goes && (!a.byItsClock() || time.Since(began) < s.config.Habit)
	known := s.habit(at)
	if usually {
		a.comes(at, 1)
		known.slowest = max(known.slowest, time.Since(began))
	}
	usual = known.learnAhead(at.method, usually)
	a.steady, a.looked = !goes && a.calling, at.method == frame.BasicPublishID
	return goes, usual, err
}

// goesOn notes that a command of a client passes: it may do anything now. mu is held.
func (a *clientHandle) goesOn() {
	if a.steady && !a.looked {
		a.runner.passesOn(a.waits)
	}
	a.steady = false
}

// byItsClock reports whether the operation of a client takes so long, as others are waited for, that what the client does without
// its reply may be that it gives up by a clock of its own. That is no habit: who is waited for because of it gives up each time.
// mu is held.
func (a *clientHandle) byItsClock() bool {
	return !a.began.IsZero() && time.Since(a.began) >= a.runner.config.Slow
}

// overtakes notes a command of a client that is carrying out an operation, where it may as well have come at another
// time: while another of its connections has one at the gate, or when the client seemed to wait for a reply. More of the
// same on the channel of that reply is no race: it comes behind. mu is held.
func (a *clientHandle) overtakes(c *wire.Command) {
	if a.runner.open || c == nil || len(a.parked) == 0 {
		return
	}
	switch c.Method.ID() {
	case frame.ConnectionCloseID, frame.ChannelCloseID:
		a.abandons(c.Conn, c.Channel)
	}
	last, opens := a.parked[len(a.parked)-1], reconnects(c)
	beside := !opens && slices.ContainsFunc(a.parked, func(o *wire.Command) bool { return o.Conn != c.Conn })
	behind := c.Conn == last.Conn && c.Channel == last.Channel && c.Method.ID() == last.Method.ID()
	if beside || a.steady && !behind {
		a.raced++
	}
	switch {
	case opens:
	case beside && a.former != cause{}: // what it does by itself since before it was called
		a.comes(a.former, a.before+1)
	case a.steady && c.Conn == last.Conn && !a.byItsClock():
		a.comes(a.waits, 1)
	}
}

// abandons notes that a client ends a channel, or with 0 a connection, on which a command of its own waits for the reply at the gate:
// it gives up by a clock of its own. mu is held.
func (a *clientHandle) abandons(conn *wire.Conn, channel uint16) {
	a.abandoned = a.abandoned || slices.ContainsFunc(a.parked, func(o *wire.Command) bool {
		return o.Conn == conn && (channel == 0 || o.Channel == channel) && o.Replies && !closing(o.Method.ID())
	})
}

// answersAhead notes that a client answers whose command is at the gate. An error may have other reasons. Who was told how
// long to wait for the lock may say no because its time is up: that is no habit, and chance unless it was waited for. mu is
// held.
func (a *clientHandle) answersAhead(r lock.Result) {
	at := a.waiting()
	a.overrun = a.mayWait && at != cause{} && !closing(at.method) && !r.Held
	if a.steady && !a.overrun || a.overrun && !a.runner.awaiting {
		a.raced++
	}
	if at != (cause{}) && r.Outcome == lock.Done && !a.overrun && !a.byItsClock() {
		a.comes(at, 1)
	}
}
