package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// loop is how every execution goes, whoever chooses. Each time round one action happens, such as a command that passes
// the gate and is answered, and then everybody is waited for. When the next is chosen, all clients are at rest: with a
// command at the gate, or idle. over says that nothing is left to be chosen.
func (r *run) loop(choose chooser) (over bool, err error) {
	for limit := r.sc.StepLimit(); len(r.record.Steps) < limit; {
		if r.bound > 0 && len(r.record.Steps) >= r.bound {
			return false, nil
		}
		a, ok := choose.Next(r)
		switch {
		case ok && !r.Can(a):
			r.uncontrolled.Unplayed++
			continue
		case ok:
			err = r.happen(r.which(a))
		case r.kept() > 0:
			err = r.happen(scenario.Action{Kind: scenario.Arrive, Client: r.kept()})
		case r.stuck():
			err = r.happen(scenario.Action{Kind: scenario.Advance})
		default:
			return true, nil
		}
		if err == nil {
			err = r.settle()
		}
		if err != nil {
			return false, err
		}
		r.finish()
	}
	if r.sc.Steps == 0 {
		r.endless()
	}
	return true, nil
}

// leastEndless is how many commands of an operation have passed, at least, for it to be taken for one that does not end: a schedule
// may have let only others go on.
const leastEndless = 40

// endless judges an execution that is as long as one may be: without faults, an operation that has gone on and on while the others
// did not change anything does not end.
func (r *run) endless() {
	if r.befell.faulty() {
		return
	}
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && p.counted >= leastEndless && r.onlyOne(p) {
			r.accuse(property.Progress, p.id, 0, "the operation does not end")
		}
	}
}

// onlyOne reports whether nobody else holds the lock of a client or is at work on it.
func (r *run) onlyOne(p *clientState) bool {
	for i := range r.clients {
		if o := &r.clients[i]; o.id != p.id && r.lockOf(o.id) == r.lockOf(p.id) && !o.dead && (o.busy || o.held > 0) {
			return false
		}
	}
	return true
}

// happen carries out one action, which must be possible. As in package sim, every action takes a virtual
// millisecond.
func (r *run) happen(a scenario.Action) error {
	r.record.Begin(a)
	r.pass(1)
	if a.Kind.Fault() {
		r.befell.fault(a.Kind, a.Client)
	}
	switch c := a.Client; a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose, scenario.Stall:
		return r.takeStep(a)
	case scenario.Arrive:
		r.arrive(r.clients[c-1].clientHandle)
		r.tell(&r.clients[c-1])
	case scenario.CrashBefore:
		r.crash(c, a.Late)
	case scenario.Pause:
		r.pause(c, int64(a.Arg))
	case scenario.Drop:
		r.drop(c, int(a.Arg))
	case scenario.ChannelError:
		r.breakPart(c)
	case scenario.Detect:
		r.detect(c)
	case scenario.Advance:
		if a.Arg == 0 {
			return r.await()
		}
		r.pass(int64(a.Arg))
	case scenario.Idle:
		r.idle(int64(a.Arg))
	case scenario.Restart:
		r.restart()
	}
	return nil
}

// takeStep has the client's next command reach the broker, and calls its next operation first where none
// is under way. How much of that the client lives to see is the action's. A call that returns with its only command at
// the gate waits for no reply: others may go on before the command passes. The client's last link is the call alone, where that may
// come ahead.
func (r *run) takeStep(a scenario.Action) error {
	c, do, link := a.Client, a.Kind, uint32(0)
	if do == scenario.Step {
		link = a.Arg
	}
	p := &r.clients[c-1]
	if goes, err := r.callNext(p, link); err != nil || !goes {
		return err
	}
	cmd := p.head(link)
	if cmd == nil { // it waits for something else
		return nil
	}
	if do == scenario.Lose && (closes(cmd) || !cmd.Replies()) { // the end of the socket says the same, or there is none
		do = scenario.Step
		r.record.Step.Action.Kind = do
	}
	if do == scenario.Stall {
		r.stall(r.connections[cmd.Conn()])
	}
	if l := r.deliver(c, cmd, do == scenario.CrashEffect || do == scenario.Lose); l != nil {
		return r.befalls(c, l, do, a.Late)
	}
	return nil
}

// callNext calls a client's next operation where none is under way, and reports whether a command may pass in the same step.
func (r *run) callNext(p *clientState, link uint32) (goes bool, err error) {
	ahead := link > 0 && int(link) == p.passes() && r.mayCallAhead(p)
	if !ahead && p.first() != nil && (p.busy || !p.chatters()) {
		return true, nil
	}
	if r.invoke(p.id); ahead {
		return false, nil
	}
	err = r.settle()
	return p.busy, err
}

// befalls has happen what is to happen to a client, or to the reply on its way, once its command has reached the broker.
func (r *run) befalls(c uint8, l *connection, do scenario.ActionKind, late bool) error {
	switch do {
	case scenario.Stall:
		return r.outlast(&r.clients[c-1])
	case scenario.CrashEffect:
		r.crash(c, late)
	case scenario.Lose:
		r.loseReply(l, late)
	case scenario.CrashReply:
		if err := r.settle(); err != nil {
			return err
		}
		r.crash(c, late)
	}
	return nil
}

// await waits for those who are still at it though nobody can go on: one that waits for a lock gives up by its own clock, or the
// operation never ends. The latter is found out at rest, by the audit: here its client is ended.
func (r *run) await() error {
	if r.timed() {
		if !r.nextComes() {
			r.endHung()
		}
		return nil
	}
	r.pass(waitTime.Milliseconds())
	if up, err := r.outwait(); up || err != nil {
		return err
	}
	r.mu.Lock()
	for i := range r.clients { // what they do now is what time is to bring about
		r.clients[i].asleep, r.clients[i].due = false, true
	}
	r.mu.Unlock()
	r.outlastBlocked()
	came, err := r.wait(r.ctx, r.config.Limit, r.comes)
	if err == nil && !came {
		r.endHung()
	}
	return err
}

// nextComes lets time pass until something happens by itself: the timer of a client that is in the midst of an operation ends, or
// else, a few times, that of another; or the server answers a client that it keeps waiting. It is false where nothing will.
func (r *run) nextComes() bool {
	next := r.nextTimer((*clientState).sleeps)
	if next == 0 && r.outwaited < mostOutwaited {
		if next = r.nextTimer(anybody); next > 0 {
			r.outwaited++
		}
	}
	if next > 0 {
		r.passOn(milliseconds(next))
		return true
	}
	return r.outlastBlocked()
}

// endHung ends the clients whose operations will not: nothing of them waits at the gate.
func (r *run) endHung() {
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && p.calling && len(p.parked) == 0 {
			r.uncontrolled.Hung++
			if !r.befell.faulty() && r.onlyOne(p) {
				r.accuse(property.Progress, p.id, 0, "the operation does not end though nobody holds the lock")
			}
			r.crash(p.id, false) // what its operation would have left nobody knows
		}
	}
}

// longestBlocked is how many virtual seconds pass, at most, for clients that the server keeps waiting.
const longestBlocked = 60

// outlastBlocked lets the server's time pass until it has answered a client that it keeps waiting, and reports whether it has.
func (r *run) outlastBlocked() bool {
	blocked := func() (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i := range r.clients {
			if p := &r.clients[i]; p.calling && p.blocked() { // else it only watches something
				n++
			}
		}
		return n
	}
	before := blocked()
	for range longestBlocked {
		if before == 0 || blocked() < before {
			break
		}
		r.pass(1000)
	}
	return blocked() < before
}

// mostOutwaited is how many times time passes in vain for clients that wait with a command at the gate.
const mostOutwaited = 20

// outwait lets the time of clients that wait for a lock be up while a command of theirs is at the gate. Only their own clocks say
// when that is.
func (r *run) outwait() (up bool, err error) {
	waiting := func() bool {
		return slices.ContainsFunc(r.clients, func(p clientState) bool { return p.mayWait() && p.calling && len(p.parked) > 0 && p.answer == nil })
	}
	r.mu.Lock()
	up = waiting() && r.outwaited < mostOutwaited
	for i := range r.clients {
		r.clients[i].due = r.clients[i].due || up
	}
	r.mu.Unlock()
	if !up {
		return false, nil
	}
	gaveUp, err := r.wait(r.ctx, waitTime+lull, func() bool { return !waiting() })
	if r.outwaited++; gaveUp {
		r.outwaited = 0
	}
	return true, err
}

// stuck reports whether a client is still in an operation though no client can go on.
func (r *run) stuck() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && (p.calling || p.answer != nil) && len(p.parked) == 0 {
			return true
		}
	}
	return false
}

// done reports whether nobody has anything left to do, and the broker nothing to notice.
func (r *run) done() bool {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.dead && (p.busy || r.upcoming(p, uint8(i+1))) {
			return false
		}
	}
	return len(r.halfOpen) == 0
}

// complete ends a client's operation. Its outcome is what the client answered, and no reason is guessed.
func (r *run) complete(c uint8) error {
	p := &r.clients[c-1]
	answer := p.take()
	if answer == nil || !p.busy {
		return nil
	}
	ended, err := r.ended(p, answer)
	if ended || err != nil {
		return err
	}
	res := answer.result
	if p.needless { // it must change nothing, and what it says tells nothing
		res.Outcome, res.Reason = lock.Failed, lock.NotHeld
	}
	r.conclude(p, res, answer)
	return nil
}

// ended takes in a call that has ended its client.
func (r *run) ended(p *clientState, answer *answer) (ended bool, err error) {
	if answer.err == nil {
		r.promises.Crashless(p.id, false, "")
		return false, nil
	}
	if !died(answer.err) {
		return false, answer.err
	}
	if p.needless { // it was called for nothing: that is a crash like any other
		r.uncontrolled.Died++
	} else {
		r.crashed(p.id, answer.err)
	}
	r.conclude(p, lock.Result{Outcome: lock.Unknown, Reason: lock.Crashed}, answer)
	r.crash(p.id, false)
	return true, nil
}

// conclude records how a client's operation ended.
func (r *run) conclude(p *clientState, res lock.Result, answer *answer) {
	p.busy = false
	if p.counted > 1 && !r.weighs(p.counted) {
		p.weight++
	}
	res = r.said(p.op, p.arg, res)
	if p.op == lock.Acquire && r.absent(p, res, answer) {
		r.uncontrolled.Absent++
	}
	r.holds(p, res)
	p.result = res
	r.record.complete(p, r.lockOf(p.id), res, answer, r.alike)
	r.lapse()
	r.bill(p, res)
}

// holds takes in what a client believes to hold since its operation ended, and whether it owes a release.
func (r *run) holds(p *clientState, res lock.Result) {
	switch {
	case p.op == lock.Acquire:
		p.held, p.unsure = 0, p.unsure || res.Outcome == lock.Unknown
		if res.Held {
			p.held, p.unsure = max(1, res.Slot), false
			r.grants(p)
		}
		p.owes = p.owes || res.Held
	case p.op == lock.Release && !p.needless, p.op.AsksHeld() && !res.Held:
		p.held, p.unsure = 0, p.unsure || res.Outcome == lock.Unknown
	case p.op == lock.Refresh && p.held > 0:
		p.lease.extended()
		r.grants(p)
	case res.Reason == lock.Disconnected: // it tells that it has lost what it held
		p.held = 0
	}
	if p.op == lock.Release && res.Outcome != lock.Failed {
		p.owes = false
	}
}

// absent reports whether an acquire was answered with an error since there is no lock: nothing else has gone wrong.
func (r *run) absent(p *clientState, res lock.Result, a *answer) bool {
	if res.Outcome != lock.Unknown || a == nil || a.said == "" || r.befell.faulty() {
		return false
	}
	_, most := r.slots(r.lockOf(p.id))
	return most == 0
}

// said is a result with what its client needs not say: the slot that it was asked about, and that of a mutex. An acquire that was
// answered with no has failed since the lock is full, as far as its client says.
func (r *run) said(op lock.Op, arg uint8, res lock.Result) lock.Result {
	switch op {
	case lock.Verify, lock.Refresh, lock.Wait, lock.Release:
		res.Slot = arg
	case lock.Acquire:
		if res.Outcome == lock.Done && !res.Held {
			res.Outcome, res.Reason = lock.Failed, lock.Full
		}
		if res.Held && res.Slot == 0 && r.config.Kind != lock.Semaphore {
			res.Slot = 1
		}
	}
	return res
}
