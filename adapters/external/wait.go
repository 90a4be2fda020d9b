package external

import (
	"maps"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// An acquire may be told how long to wait for the lock. Meanwhile its client sends nothing, and the others go on. Its clock is
// its own: within the time that it is told, an execution is over that nobody else holds up, and when the schedule has time
// pass, or nobody else can go on, it is waited for in earnest until it goes on.

// waitTime is how long clients are told to wait for a lock.
const waitTime = 250 * time.Millisecond

// How long is waited for a client to send something before it is taken to wait for the lock: where that is not known of it,
// and where it is.
const (
	firstLull = 120 * time.Millisecond
	lull      = 20 * time.Millisecond
)

// lulled reports whether the client may be waiting for the lock. mu is held.
func (a *clientHandle) lulled() bool {
	if !a.mayWait || !a.calling || len(a.parked) > 0 || a.heard == 0 {
		return false
	}
	for _, l := range a.connections {
		if l.unheard > l.waiting() {
			return false
		}
	}
	return true
}

// lull has the others go on without those who wait for a lock, when they have had the time to send something.
func (r *run) lull() error {
	limit := time.Duration(0)
	var waiting []*clientHandle
	r.mu.Lock()
	for i := range r.clients {
		if a := r.clients[i].clientHandle; a.lulled() && !a.quiet() {
			waiting = append(waiting, a)
			if limit = max(limit, lull); !r.lulls[rest{op: a.doing, method: a.method}] {
				limit = firstLull
			}
		}
	}
	r.mu.Unlock()
	if len(waiting) == 0 {
		return nil
	}
	calm, err := r.wait(r.ctx, limit, r.all(func(a *clientHandle) bool { return a.quiet() || len(a.parked) > 0 }))
	if calm || err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range waiting {
		if a.lulled() {
			a.asleep = true
			r.lulls[rest{op: a.doing, method: a.method}] = true
		}
	}
	return nil
}

// wakes notes that a client that waits for the lock goes on, because it was told something or its time is up. Where that was
// not waited for, it is chance what comes before it. mu is held.
func (a *clientHandle) wakes() {
	if a.asleep && a.mayWait && !a.runner.awaiting {
		a.raced++
	}
	a.asleep = false
}

// await waits for those who wait for a lock to go on, or, if there are none, for those who are still at it though nobody can
// go on. An operation that does not end is given up.
func (r *run) await() error {
	r.belated.timeUp = false
	late, waiting := r.held()
	switch {
	case len(late) > 0:
		return r.runOut(late)
	case len(waiting) > 0: // it may wait by the broker's clock
		r.pass((waitTime + upBy).Milliseconds())
	case !r.hangs():
		return nil
	default:
		for i := range r.clients {
			waiting = append(waiting, &r.clients[i])
		}
	}
	goesOn := func() bool {
		return slices.ContainsFunc(waiting, func(p *clientState) bool { return len(p.parked) > 0 || p.answer != nil })
	}
	r.awaits(true)
	came, err := r.wait(r.ctx, r.patience(r.config.Limit), goesOn)
	if err == nil && !came && r.standstill() && r.lateAtLast() {
		came, err = r.outwait(goesOn)
	}
	r.awaits(false)
	if err == nil && !came && r.standstill() {
		r.giveUp()
	}
	return err
}

// held are those for whom it is waited when time passes: clients whose time may be up before they are granted the lock, else
// those who wait for it with no command at the gate, else those whose time may be up whatever they have there.
func (r *run) held() (late map[*clientState]rest, waiting []*clientState) {
	if late = r.aboutToBeGranted(); len(late) > 0 {
		return late, nil
	}
	r.mu.Lock()
	for i := range r.clients {
		if p := &r.clients[i]; p.asleep && p.lulled() {
			waiting = append(waiting, p)
		}
	}
	r.mu.Unlock()
	if len(waiting) > 0 {
		return nil, waiting
	}
	return r.runningOut(), nil
}

// hangs reports whether somebody is still at it though nobody can go on. A reply that is kept from somebody is still to come.
func (r *run) hangs() bool { return r.stuck() && r.overdueReplies() == 0 }

// runningOut are the clients that were told how long they may wait for the lock and have a command at the gate, with where
// they stand, as far as they may give up there: behind each command they are given the time to once, and a few times in all.
// What is replayed has time pass where it did, and nowhere else.
func (r *run) runningOut() map[*clientState]rest {
	late := make(map[*clientState]rest)
	r.mu.Lock()
	for i := range r.clients {
		p := &r.clients[i]
		if p.mayRunOut() {
			late[p] = p.stands()
		}
	}
	r.mu.Unlock()
	if r.sc.Schedule.Strategy != scenario.Replay {
		maps.DeleteFunc(late, func(_ *clientState, at rest) bool { return r.config.Learnt.patience(at) == 0 })
	}
	return late
}

// mayRunOut reports whether the time of a client may be up that it was told it may wait for the lock, while it has a command at
// the gate. mu is held.
func (p *clientState) mayRunOut() bool {
	return p.mayWait && !p.stalled && !p.paused && p.waiting() != (cause{})
}

// upBy is how much later than it was told the time of a client is certainly up: its clock begins when it has read the call.
const upBy = 60 * time.Millisecond

// timeLeft is how long it takes until the time of a client that waits for the lock is certainly up.
func (p *clientState) timeLeft() time.Duration { return waitTime + upBy - time.Since(p.began) }

// mostOvertime is how many commands of who waits for a lock pass when its time is up, at most: its last try, and what it has to
// tidy up. One that the schedule lets nothing of pass cannot end.
const mostOvertime = 24

// runOut waits until the time of some clients is up: who gives up by a clock of its own has answered then, though its command
// is still at the gate. Who does not looks at its clock when it goes on.
func (r *run) runOut(late map[*clientState]rest) error {
	limit, looked := time.Duration(0), make(map[*clientState]bool)
	for p, at := range late {
		p.ranOut = true
		if looked[p] = r.config.Learnt.patience(at) > 0; looked[p] {
			limit = 2 * waitTime
		}
		limit = max(limit, p.timeLeft())
	}
	began := time.Now()
	r.awaits(true)
	_, err := r.wait(r.ctx, limit, func() bool {
		for p := range late {
			if p.answer == nil {
				return false
			}
		}
		return true
	})
	r.awaits(false)
	for p, at := range late {
		if did := p.answered(); did || looked[p] {
			r.config.Learnt.gaveUp(at, did, time.Since(began))
		}
	}
	return err
}

// stands is where a client stands that has a command at the gate. mu is held.
func (p *clientState) stands() rest {
	at := p.waiting()
	return rest{at.op, at.method, true}
}

// answered reports whether a call is over.
func (a *clientHandle) answered() bool {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	return a.answer != nil
}

// standstill reports whether nobody has a command at the gate that may pass.
func (r *run) standstill() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(r.clients, func(p clientState) bool { return len(p.parked) > 0 && (p.calling || !p.chatters()) })
}

// awaits notes whether it is waited for those who wait.
func (r *run) awaits(so bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaiting = so
}

// waits reports whether an operation is an acquire that may wait for the lock.
func waits(op scenario.Operation) bool { return op.Op == lock.Acquire && op.Arg == scenario.Waiting }

// rouse waits for a client that is to go on in a replay and seems to wait for the lock still: where the execution was recorded,
// what it waited for had come by then. It is waited for until its time is up at the latest.
func (r *run) rouse(a scenario.Action) error {
	if r.sc.Schedule.Strategy != scenario.Replay || a.Client == 0 {
		return nil
	}
	p := &r.clients[a.Client-1]
	r.mu.Lock()
	waits := p.asleep && p.lulled()
	r.mu.Unlock()
	if !waits {
		return nil
	}
	r.awaits(true)
	_, err := r.wait(r.ctx, max(lull, p.timeLeft()), func() bool { return len(p.parked) > 0 || p.answer != nil })
	r.awaits(false)
	if err != nil {
		return err
	}
	return r.settle()
}
