package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// loop plays an execution; choose makes the choices. In each iteration one action happens, for example a command passes the
// gate and is answered, and then the loop waits for all clients. At each choice all clients are at rest: with a command at
// the gate, or idle. over says that nothing is left to choose.
func (r *run) loop(choose chooser) (over bool, err error) {
	for limit := r.sc.StepLimit(); len(r.record.Steps) < limit; {
		if r.bound > 0 && len(r.record.Steps) >= r.bound {
			return false, nil
		}
		a, ok := choose.Next(r)
		if instead, err := r.precede(a); err != nil {
			return false, err
		} else if instead {
			continue
		}
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

// leastEndless is the minimum number of commands of an operation that is taken for endless. It is not 1, as a schedule may
// have let only others go on.
const leastEndless = 40

// endless judges an execution that has reached the step limit. If there were no faults, and an operation went on while the
// other clients changed nothing, that operation does not end.
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

// onlyOne reports whether no other client holds the lock of p or has an operation on it under way.
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

// takeStep lets the client's next command reach the broker. If no operation is under way, it calls the next one first. The
// kind of the action says how much of the result the client sees. If a call returns while its only command is at the gate,
// the call waits for no reply, and others may go on before the command passes. The client's last link is the call alone, if
// the operation may be called ahead.
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
	if cmd == nil { // it waits for something other than a command
		return nil
	}
	if do == scenario.Lose && (closes(cmd) || !cmd.Replies()) { // the end of the socket says the same, or there is no reply
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

// callNext calls the next operation of p if none is under way. goes reports whether a command may pass in the same step.
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

// befalls carries out the fault do, on client c or on the reply that is on its way, once the client's command has reached
// the broker.
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

// await waits for clients whose operations are under way although no client can go on. A client that waits for a lock may
// give up by its own clock. Otherwise its operation never ends: await ends the client, and the audit judges the lock at
// rest.
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
	for i := range r.clients { // what clients do now is due to the passing of time
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

// nextComes lets time pass until something happens by itself: the server answers a client that it keeps waiting, or a timer
// ends. A timer counts if its client has an operation under way; the timers of other clients count only a few times. It is
// false if nothing will happen.
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

// endHung ends the clients whose operations will not end: they have no command at the gate. Without faults, such a client is
// wrong if nobody holds the lock, or if the time is over for which it was told to wait.
func (r *run) endHung() {
	var hung []*clientState
	r.mu.Lock()
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && p.calling && len(p.parked) == 0 {
			hung = append(hung, p)
		}
	}
	r.mu.Unlock()
	for _, p := range hung {
		switch {
		case r.befell.faulty():
		case r.nobodyElse(p, hung):
			r.accuse(property.Progress, p.id, 0, "the operation does not end though nobody holds the lock")
		case r.timed() && p.toldToWait():
			r.accuse(property.Progress, p.id, 0, "the operation does not end though the time is over for which it was to wait")
		}
	}
	for _, p := range hung {
		r.uncontrolled.Hung++
		r.crash(p.id, false) // what its operation would have left is unknown
	}
}

// nobodyElse reports whether no client other than p and the hung ones holds the lock of p or has an operation on it under way.
func (r *run) nobodyElse(p *clientState, hung []*clientState) bool {
	return !slices.ContainsFunc(r.clients, func(o clientState) bool {
		hangs := slices.ContainsFunc(hung, func(h *clientState) bool { return h.id == o.id })
		return o.id != p.id && r.lockOf(o.id) == r.lockOf(p.id) && !o.dead && (o.held > 0 || o.busy && !hangs)
	})
}

// toldToWait reports whether the client carries out an acquire that was told how long to wait.
func (a *clientHandle) toldToWait() bool {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	return a.mayWait()
}

// longestBlocked is the maximum number of virtual seconds that pass for clients that the server keeps waiting.
const longestBlocked = 60

// outlastBlocked lets the server's time pass until it has answered a client that it keeps waiting. It reports whether that
// happened.
func (r *run) outlastBlocked() bool {
	blocked := func() (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i := range r.clients {
			if p := &r.clients[i]; p.calling && p.blocked() { // otherwise it only watches something
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

// mostOutwaited is the maximum number of times that time passes without result for clients that wait with a command at the
// gate.
const mostOutwaited = 20

// outwait lets the waiting time end of clients that wait for a lock while one of their commands is at the gate. Only their
// own clocks say when that is.
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

// done reports whether no client has anything left to do, and the broker has nothing left to notice.
func (r *run) done() bool {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.dead && (p.busy || r.upcoming(p, uint8(i+1))) {
			return false
		}
	}
	return len(r.halfOpen) == 0
}

// complete ends a client's operation with the outcome that the client answered. A reason is not guessed.
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
	if p.needless { // it must change nothing, and its answer says nothing
		res.Outcome, res.Reason = lock.Failed, lock.NotHeld
	}
	r.conclude(p, res, answer)
	return nil
}

// ended handles a call that has ended its client.
func (r *run) ended(p *clientState, answer *answer) (ended bool, err error) {
	if answer.err == nil {
		r.promises.Crashless(p.id, false, "")
		return false, nil
	}
	if !died(answer.err) {
		return false, answer.err
	}
	if p.needless { // the operation was needless: the end counts as an ordinary crash
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

// holds records what p believes to hold after its operation, and whether it owes a release.
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
	case res.Reason == lock.Disconnected: // it says that it has lost what it held
		p.held = 0
	}
	if p.op == lock.Release && res.Outcome != lock.Failed {
		p.owes = false
	}
}

// absent reports whether an acquire was answered with an error only because the lock does not exist.
func (r *run) absent(p *clientState, res lock.Result, a *answer) bool {
	if res.Outcome != lock.Unknown || a == nil || a.said == "" || r.befell.faulty() {
		return false
	}
	_, most := r.slots(r.lockOf(p.id))
	return most == 0
}

// said completes the result of a client with what clients need not say: the slot of the question, and the slot of a mutex.
// An acquire that was answered with no has failed because the lock is full, as far as its client says.
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
