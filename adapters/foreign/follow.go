package foreign

import (
	"context"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// A client may send commands without waiting for a reply, and may answer a call meanwhile. What it wrote before the
// answer is at the gate, or in the socket's buffer: the gate catches up with it before anything is chosen. What it
// writes after the answer, from another thread or when its event loop comes to it, may come at any time. Clients that
// were seen to do so are waited for; what still comes at a time of its own is counted in [Uncontrolled].

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
}

// habit is what is known of what clients do by themselves after a cause.
type habit struct {
	// total is how much comes after all, commands and closed sockets, where some of that has come by itself: from when
	// the client was called or the broker answered it last. 0 is nothing.
	total  int
	looks  int // how often nothing was seen to come by itself
	missed int // how often in a row it did not come
}

const (
	// grace is how long is waited for what a client may or may not do.
	grace = 5 * time.Millisecond
	// habitLooks is how often that is done before nothing is taken to come after a cause.
	habitLooks = 2
	// closeGrace is how long is waited for clients to answer that may or may not wait until something is closed. If
	// they do not and that is missed, it does not show later: their answers come when it is closed.
	closeGrace = 50 * time.Millisecond
	// habitMisses is how often in a row a habit is waited for in vain before it is taken to be none.
	habitMisses = 3
	// leastHabit is how long a habit is always waited for.
	leastHabit = 50 * time.Millisecond
	// mostCauses is how many times in a row a client may be told something for what it did by itself.
	mostCauses = 8
)

// limit is how long more is waited for, when so much has come; look is that where it may be none.
func (h *habit) limit(sent int, look, patience time.Duration) time.Duration {
	switch {
	case h.total > sent:
		return max(min(leastHabit, patience), patience>>h.missed)
	case h.total == 0 && h.looks < habitLooks:
		return min(look, patience)
	}
	return 0
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
			*h = habit{looks: habitLooks}
		}
		return false
	}
	return true
}

// habit is that of a cause. mu is held.
func (s *Stage) habit(of cause) *habit {
	h := s.habits[of]
	if h == nil {
		h = new(habit)
		s.habits[of] = h
	}
	return h
}

// told notes what a client does something by itself for, if it does. mu is held.
func (a *actor) told(c cause) {
	a.cause, a.settled = c, false
	a.turn++
}

// sends notes something that comes from a client: a command, or the end of a socket. mu is held.
func (a *actor) sends(c *wire.Command) {
	a.since++
	if a.calling || !a.settled || a.client == nil {
		return
	}
	if !a.stage.open && c != nil {
		a.late++
	}
	if reconnects := c != nil && c.Method.ID() == frame.ConnectionOpenID; a.cause != (cause{}) && !reconnects {
		h := a.stage.habit(a.cause)
		h.total = max(h.total, a.since)
	}
}

// hears notes what a client is told. mu is held.
func (a *actor) hears(answer *wire.Answer) {
	n := len(answer.Settles)
	if n == 0 { // what it does now, it does for that
		a.cause = cause{}
		return
	}
	method := answer.Settles[n-1].Method.ID()
	if !a.calling && method == frame.ConnectionCloseID { // it does nothing for that
		return
	}
	a.since, a.method, a.steady = 0, method, false
	if !a.calling {
		a.told(cause{method: method})
	}
}

// answers takes in what a call came to. mu is held.
func (a *actor) answers(r lock.Result, said string, err error) {
	if a.steady && !a.stage.open { // it did not wait for the reply, and whether it would was not known
		a.late++
		if at := a.waiting(); closing(at.method) {
			a.stage.habit(at).total = 1
		}
	}
	a.calling, a.steady, a.answer = false, false, &answer{r, said, err}
	a.told(cause{op: a.doing, outcome: r.Outcome, held: r.Held, method: a.method})
}

// waiting is where a client stands that has a command at the gate that is answered, and seems to wait for that. It is
// zero where it has none. mu is held.
func (a *actor) waiting() cause {
	if n := len(a.parked); n > 0 && a.calling && a.parked[n-1].Replies {
		return cause{op: a.doing, method: a.parked[n-1].Method.ID()}
	}
	return cause{}
}

// closing reports whether clients may not wait for the reply to a command, since it tells them nothing new.
func closing(method frame.ID) bool {
	return method == frame.ConnectionCloseID || method == frame.ChannelCloseID || method == frame.BasicCancelID
}

// outrun waits for the answers of those who have closed something and are known not to wait until it is closed. It is
// false where that was waited for in vain.
func (s *Stage) outrun(ctx context.Context, a *actor) (came bool, err error) {
	came = true
	for range mostCauses {
		s.mu.Lock()
		at, since := a.waiting(), a.since
		if a.steady || !closing(at.method) || a.paused || a.asleep {
			a.steady = at != cause{}
			s.mu.Unlock()
			return came, nil
		}
		known := s.habit(at)
		limit := known.limit(0, closeGrace, s.config.Patience)
		s.mu.Unlock()
		goes := false
		if limit > 0 {
			if goes, err = s.wait(ctx, limit, func() bool { return !a.calling || a.since != since }); err != nil {
				return came, err
			}
		}
		s.mu.Lock()
		if limit > 0 {
			did := 0
			if goes {
				did = 1
			}
			came = known.learn(0, did) && came
		}
		a.steady = !goes && a.calling
		s.mu.Unlock()
	}
	return came, nil
}

// behind reports whether a client has written what the gate has not seen yet. mu is held.
func (a *actor) behind() (behind bool) {
	for _, l := range a.host.links {
		behind = l.conn.Behind(a.stage.cue) || behind
	}
	return behind
}

// follow waits for what a client that is carrying out no operation has sent before, and for what it is known to do by
// itself after what it was told last. It is false where that was waited for in vain.
func (s *Stage) follow(ctx context.Context, a *actor) (came bool, err error) {
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
func (s *Stage) await(ctx context.Context, a *actor) (came bool, err error) {
	s.mu.Lock()
	known, turn, before, limit := s.habit(a.cause), a.turn, a.since, time.Duration(0)
	if a.knowable() {
		limit = known.limit(before, grace, s.config.Patience)
	}
	a.settled = limit == 0
	s.mu.Unlock()
	if limit == 0 {
		return true, nil
	}
	_, err = s.wait(ctx, limit, func() bool {
		return a.turn != turn || a.since > before && a.since >= known.total && !a.behind()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	since := a.since
	if a.turn == turn {
		a.settled = true
	} else { // it was answered already what it has sent
		since = max(before+1, known.total)
	}
	return known.learn(before, since), err
}

// knowable reports whether what comes from the client is known to be its own, and can come. mu is held.
func (a *actor) knowable() bool {
	shared := slices.ContainsFunc(a.stage.actors, func(o *actor) bool { return o.host != o })
	return a.cause != (cause{}) && !shared && !a.paused
}
