package external

import (
	"context"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// A client may send commands without waiting for a reply, and may answer a call meanwhile. What it wrote before the
// answer is at the gate, or in the socket's buffer: the gate catches up with it before anything is chosen. What it
// writes after the answer, from another thread or when its event loop comes to it, may come at any time. Clients that
// were seen to do so are waited for; what still comes at a time of its own is counted in [Uncontrolled], and so is, when
// that is first seen, how often clients had gone on from there before in the execution: what they did then may have come
// at a time of its own as well, unseen.

// cause is where a client stands when it does something that nobody tells it to.
type cause struct {
	// op and the next two are the operation that it has answered, or is carrying out ([lock.Pending]); zero where the
	// broker has answered it since.
	op      lock.Op
	outcome lock.Outcome
	held    bool
	// method is the command that the broker has answered last, 0 for none since it was called; of an operation that
	// is under way, the one that waits for its reply.
	method frame.ID
	// sent is how much has come since the broker answered it last, where its operation is under way.
	sent int
	// heard is how often the broker has answered it since it was called, and last the last answer, where that is looked at.
	heard int
	last  amqp.ReplyKind
}

// lostConnection is where a client stands that was told, when it was called for nothing, that its connections are gone.
var lostConnection = cause{method: frame.ConnectionCloseID}

// look is how long is waited for what clients may do by themselves, the first times: who connects again may leave the broker some
// time before.
func (of cause) look(t *Timing) time.Duration {
	if of == lostConnection {
		return max(t.Grace, reconnectsWithin)
	}
	return t.Grace
}

// habit is what is known of what clients do by themselves after a cause.
type habit struct {
	// total is how much comes after all, commands and closed sockets, where some of that has come by itself: from when
	// the client was called or the broker answered it last. 0 is nothing.
	total  int
	looks  int // how often nothing was seen to come by itself
	missed int // how often in a row it did not come
	given  int // how often it was taken to be none again
	// slowest is how long it took to come when it was waited for, at most.
	slowest time.Duration
}

const (
	// habitLooks is how often is looked for what a client may do before nothing is taken to come after a cause.
	habitLooks = 2
	// habitMisses is how often in a row a habit is waited for in vain before it is taken to be none.
	habitMisses = 3
	// mostGiven is how often a habit is taken up again.
	mostGiven = 2
	// slower is how many times as long as it took so far is waited for a habit, on a busy machine: what comes but now and then is
	// waited for in vain as often as not. It is habitPatience at least.
	slower        = 16
	habitPatience = 500 * time.Millisecond
	// byClock is how long after it was told something a client that does something does it for that; later, it is by a clock
	// of its own.
	byClock = 30 * time.Millisecond
	// reconnectsWithin is how long a client may wait before it connects again.
	reconnectsWithin = 120 * time.Millisecond
	// mostCauses is how many times in a row a client may be told something for what it did by itself.
	mostCauses = 8
)

// limit is how long more is waited for, when so much has come; look is that where it may be none.
func (h *habit) limit(sent int, look time.Duration, t *Timing) time.Duration {
	switch {
	case h.total > sent:
		return max(min(t.Habit, t.Patience), h.patience(t)>>(h.missed+habitMisses*h.given))
	case h.total == 0 && h.looks < habitLooks:
		return min(look, t.Patience)
	}
	return 0
}

// patience is how long is waited for what always came.
func (h *habit) patience(t *Timing) time.Duration {
	if h.slowest == 0 {
		return t.Patience
	}
	return min(t.Patience, max(habitPatience, slower*h.slowest))
}

// learn takes in what came while more was waited for. It is false where less came than always did.
func (h *habit) learn(before, sent int) bool {
	switch {
	case h.total == 0 && sent == before:
		h.looks++
	case h.total <= sent:
		h.total, h.missed = max(h.total, sent), 0
	default:
		if h.missed++; h.missed == habitMisses {
			*h = habit{looks: habitLooks, given: h.given + 1, slowest: h.slowest}
		}
		return false
	}
	return true
}

// habit is that of a cause. mu is held.
func (s *Runner) habit(of cause) *habit {
	h := s.habits[of]
	if h == nil {
		h = new(habit)
		s.habits[of] = h
	}
	return h
}

// comes notes that so much comes after a cause, and counts how often it had gone unseen in this run. mu is held.
func (a *clientHandle) comes(of cause, total int) {
	h := a.runner.habit(of)
	if total <= h.total {
		return
	}
	if h.given < mostGiven {
		h.total = total
	}
	if !a.runner.open {
		a.raced += a.runner.passes[of]
		a.runner.passes[of] = 0
	}
}

// passesOn notes that a client goes on from a cause. mu is held.
func (s *Runner) passesOn(from cause) {
	if from != (cause{}) {
		s.passes[from]++
	}
}

// told notes what a client does something by itself for, if it does. mu is held.
func (a *clientHandle) told(c cause) {
	a.runner.passesOn(a.cause)
	a.cause, a.settled, a.caused = c, false, time.Now()
	a.turn++
}

// leaves notes that a client is called. mu is held.
func (a *clientHandle) leaves() {
	a.runner.passesOn(a.cause)
	a.former, a.before, a.cause = a.cause, a.since, cause{}
}

// sends notes something that comes from a client: a command, or the end of a socket. mu is held.
func (a *clientHandle) sends(c *wire.Command) {
	a.since++
	a.overlooks()
	switch {
	case a.client == nil:
	case a.calling:
		a.overtakes(c)
	case a.settled:
		if !a.runner.open && c != nil {
			a.late++
		}
		if a.cause != (cause{}) && !reconnects(c) && time.Since(a.caused) < byClock {
			a.comes(a.cause, a.since)
		}
	}
}

// reconnects reports whether a command opens a connection: libraries do that when they please.
func reconnects(c *wire.Command) bool { return c != nil && c.Method.ID() == frame.ConnectionOpenID }

// hears notes an answer to a client. mu is held.
func (a *clientHandle) hears(answer *wire.Answer) {
	n := len(answer.Settles)
	if n == 0 { // what it does now, it does for that
		a.cause, a.unasked = cause{}, 0
		switch answer.Method.(type) {
		case *frame.BasicCancel:
			a.cancelled = true
		case *frame.BasicDeliver:
			if a.calling {
				a.delivered = time.Now()
				a.overlooked = a.overlooked || a.mayWait && a.runner.real() && time.Since(a.began) >= waitTime-unread // its time may be up
			}
		}
		return
	}
	method := answer.Settles[n-1].Method.ID()
	if !a.calling && method == frame.ConnectionCloseID { // it does nothing for that
		return
	}
	a.since, a.method, a.steady = 0, method, false
	a.heard, a.last = a.heard+1, answer.Reply.Kind
	if !a.calling {
		a.told(cause{method: method})
	}
}

// answers takes in what a call came to. mu is held.
func (a *clientHandle) answers(over answer) {
	a.wakes()
	a.overlooks()
	if !a.runner.open {
		a.answersAhead(over.result)
	}
	a.calling, a.steady, a.answer, a.unasked = false, false, &over, 0
	a.told(cause{op: a.doing, outcome: over.result.Outcome, held: over.result.Held, method: a.method})
}

// behind reports whether a client has written what the gate has not seen yet. mu is held.
func (a *clientHandle) behind() (behind bool) {
	for _, l := range a.host.connections {
		behind = l.conn.Behind(a.runner.notify) || behind
	}
	return behind
}

// follow waits for what a client that is carrying out no operation has sent before, and for what it is known to do by
// itself after what it was told last. It is false where that was waited for in vain.
func (s *Runner) follow(ctx context.Context, a *clientHandle) (came bool, err error) {
	came = true
	for range mostCauses {
		s.mu.Lock()
		due := !a.calling && !a.settled && a.client != nil
		s.mu.Unlock()
		if !due {
			return came, nil
		}
		if _, err := s.wait(ctx, s.config.Patience, func() bool { return !a.behind() }); err != nil {
			return came, err
		}
		did, err := s.await(ctx, a)
		came = came && did
		if err != nil {
			return came, err
		}
	}
	return came, nil
}

// await waits for what a client is known to do by itself.
func (s *Runner) await(ctx context.Context, a *clientHandle) (came bool, err error) {
	s.mu.Lock()
	of, known, turn, before, limit := a.cause, s.habit(a.cause), a.turn, a.since, time.Duration(0)
	if a.knowable() {
		limit = known.limit(before, of.look(&s.config.Timing), &s.config.Timing)
	}
	a.settled = limit == 0
	s.mu.Unlock()
	if limit == 0 {
		return true, nil
	}
	began := time.Now()
	came, err = s.wait(ctx, limit, func() bool {
		return a.turn != turn || a.since > before && a.since >= known.total && !a.behind()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if came {
		known.slowest = max(known.slowest, time.Since(began))
	}
	since := a.since
	if a.turn == turn {
		a.settled = true
	} else { // it was answered already what it has sent
		since = max(before+1, known.total)
	}
	if since > before {
		a.comes(of, since)
	}
	return known.learn(before, since), err
}

// knowable reports whether what comes from the client is known to be its own, and can come. mu is held.
func (a *clientHandle) knowable() bool {
	shared := slices.ContainsFunc(a.runner.handles, func(o *clientHandle) bool { return o.host != o })
	return a.cause != (cause{}) && !shared && !a.paused
}
