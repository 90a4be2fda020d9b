package external

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// A reply that comes late is kept at the gate, with all that the broker says on its connection after it, until the
// schedule has it arrive. Meanwhile the others go on. A client that waits no longer than so long by a clock of its own,
// which nobody can turn, is given that time in earnest: once behind each command of an acquire, and a few times in
// all. One that does not give up then is taken to have no such limit, so that no more is waited for it; one that does is
// waited for as long as it took.

const (
	// mostPatience is how long a client is waited for that may give up waiting for a reply.
	mostPatience = 1300 * time.Millisecond
	// patienceLooks is how often it is waited for in vain behind a command before clients are taken not to give up there.
	patienceLooks = 1
	// mostLooks is the same behind all commands together.
	mostLooks = 3
)

// resign is what is known of how clients wait for replies.
type resign struct {
	looks int           // how often they were waited for in vain
	after time.Duration // after how long they gave up, at most; 0 while they did not
}

// limit is how long a client is waited for.
func (g *resign) limit() time.Duration {
	switch {
	case g.after > 0 && g.looks <= patienceLooks:
		return min(g.after+g.after/2+100*time.Millisecond, 2*mostPatience)
	case g.looks < patienceLooks:
		return mostPatience
	}
	return 0
}

// keep keeps an answer at the gate: its step has it, its client does not. mu is held.
func (l *connection) keep(a *wire.Answer) {
	s := l.client.runner
	l.kept = append(l.kept, a)
	if slices.Contains(a.Settles, s.step.command) {
		s.step.reply, s.step.answered = a.Reply, true
		l.client.stalled = true
	}
	if _, closes := a.Method.(*frame.ChannelClose); closes { // what the client had by it is gone, though it does not know
		s.closedLate(l, a)
	}
	s.notify()
}

// stall has what the broker answers on a connection wait.
func (r *run) stall(l *connection) {
	r.mu.Lock()
	l.stalled = true
	r.mu.Unlock()
	r.harm(l.client)
	for _, p := range r.playing(l.client) {
		p.troubled, p.shifted = true, true
		p.stalledIn = p.busy
		r.monitor.Lost(p.id)
		r.monitor.Excuse(p.id)
	}
}

// overruns takes an operation whose time was up while the gate kept its command for one like those whose reply comes late: what
// its client has after all, it may not know, or have given back because it came too late. It may have said so by giving up the
// connection, and that it does not know what became of the operation.
func (r *run) overruns(p *clientState, res lock.Result) {
	if p.overrun || p.ranOut && !res.Held || p.abandoned && res.Outcome == lock.Unknown {
		p.dirty, p.troubled, p.shifted, p.stalledIn, r.resigned = true, true, true, true, true
		r.monitor.Lost(p.id)
		r.monitor.Excuse(p.id)
	}
}

// resigns waits for a client to give up that waits for a reply, if it ever does.
func (r *run) resigns(p *clientState, cmd *wire.Command) error {
	at := rest{p.op, cmd.Method.ID(), p.mayWait}
	limit := r.config.Learnt.patience(at)
	switch {
	case p.mayWait:
		limit = 2 * waitTime
	case limit == 0 || p.op != lock.Acquire:
		return nil
	}
	began := time.Now()
	r.looking(true)
	did, err := r.wait(r.ctx, limit, func() bool { return p.answer != nil || len(p.parked) > 0 })
	after := time.Since(began)
	r.looking(false)
	if err == nil {
		r.resigned = r.resigned || did
		r.config.Learnt.gaveUp(at, did, after)
	}
	return err
}

// looking tells others that it begins to be looked whether a client gives up, or that this is over.
func (r *run) looking(begins bool) {
	if r.config.Looking != nil {
		r.config.Looking(begins)
	}
}

// outlasts takes an operation that took so long for one whose client may have given up, and so an acquire whose client was sent
// a message and may have been waiting for it no longer when it read it.
func (r *run) outlasts(p *clientState, res lock.Result) {
	limit := r.config.Timing.Slow
	if p.mayWait {
		limit += waitTime
	}
	late := p.stalledIn || time.Since(p.began) >= limit || p.op == lock.Acquire && p.overlooked
	if !late || res.Outcome == lock.Done && (res.Held || p.op == lock.Release || p.op.Administrative()) {
		return
	}
	p.stalledIn, p.troubled, r.resigned = true, true, true
	r.monitor.Lost(p.id)
	r.monitor.Excuse(p.id)
}

// outlives takes an operation during which nothing was done for longer than what the lock is lasts unless it is renewed: it may
// have found that this had expired, and say no of what is free.
func (r *run) outlives(p *clientState, res lock.Result) {
	if r.expires == 0 || res.Held || time.Duration(r.now-p.asked)*time.Millisecond < r.expires {
		return
	}
	p.troubled = true
	r.monitor.Lost(p.id)
	r.monitor.Excuse(p.id)
}

// unread is how long a client does nothing after it was sent a message, at most, if it has waited for that: one that gives up
// by a clock of its own after a few times as long may have done so before it read it, on a busy machine.
const unread = 10 * time.Millisecond

// overlooks notes whether a client did nothing for long after it was sent a message. mu is held.
func (a *clientHandle) overlooks() {
	if a.delivered.IsZero() {
		return
	}
	a.overlooked = a.overlooked || time.Since(a.delivered) >= unread
	a.delivered = time.Time{}
}

// waitsFor reports whether something waits for a client.
func (p *clientState) waitsFor() bool {
	p.runner.mu.Lock()
	defer p.runner.mu.Unlock()
	return slices.ContainsFunc(p.connections, func(l *connection) bool { return l.stalled })
}

// overdueReplies is a client for which something waits, 0 for none.
func (r *run) overdueReplies() uint8 {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && p.waitsFor() {
			return p.id
		}
	}
	return 0
}

// arrive has what waits for a client arrive.
func (r *run) arrive(a *clientHandle) {
	var kept []*wire.Answer
	var ended []*wire.Conn
	r.mu.Lock()
	if a.stalled {
		r.harm(a)
	}
	a.stalled = false
	for _, l := range a.connections {
		kept = append(kept, l.kept...)
		if l.ended {
			ended = append(ended, l.conn)
		}
		l.kept, l.stalled, l.ended = nil, false, false
	}
	r.mu.Unlock()
	for _, answer := range kept {
		(&gate{r.Runner, a}).Answered(answer)
	}
	for _, c := range ended {
		c.HangUp()
	}
}

// busied reports whether a client that has given up waiting for a reply, which has come since, is still at work for that: it
// may be about to give back what it was granted late.
func (r *run) busied() bool {
	if !r.resigned {
		return false
	}
	busy, err := r.wait(r.ctx, r.config.Closing, func() bool {
		for i := range r.clients {
			if p := &r.clients[i]; len(p.parked) > 0 || p.behind() {
				return true
			}
		}
		return false
	})
	return busy || err != nil
}

// keptUnknown looks whether a client has a slot that it does not hold, when nobody has anything left to do: one that its acquire
// has given up, or was not answered, though another was since, or, where nothing has gone wrong, whatever it had it for.
func (r *run) keptUnknown() {
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || p.held > 0 || r.shared || !r.design.Known() {
			continue
		}
		if r.several && (!p.gaveUp || p.harmed) || !p.gaveUp && !p.forgetful && (!r.record.plain() || p.unsure || p.upset) {
			continue
		}
		why := " has a slot that it does not hold, and gives it back to nobody"
		switch {
		case p.gaveUp:
			why = " has what its acquire gave up, and does not know"
		case p.forgetful:
			why = " has what it was granted by an acquire without an answer, though it was told since that it has not"
		}
		t := &r.truth[r.lockOf(p.id)]
		for s := uint8(1); s <= monitor.Slots; s++ {
			if t.Owner[s] == p.id {
				r.monitor.Leftover(ClientName(int(p.id)) + why)
			}
		}
	}
}

// givesUp notes whether an acquire that is over has given up waiting, for a reply or for the lock, and says no.
func (p *clientState) givesUp(res lock.Result) {
	if p.op != lock.Acquire {
		return
	}
	p.gaveUp = (p.stalledIn || p.mayWait) && res.Outcome != lock.Unknown && !res.Held
}
