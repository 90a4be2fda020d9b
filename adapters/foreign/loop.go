package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// loop carries out the execution; choose makes the choices. In each iteration it carries out one action, for example it
// lets a command pass, and then waits until all clients are at rest: they are idle or have a command at the gate. over
// says that no choice is left.
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

// leastEndless is the minimum number of commands after which an operation may be reported as endless. An operation with
// fewer may only be slow, because the schedule let other clients go on.
const leastEndless = 40

// endless judges the operations that are under way when an execution reaches the step limit. It reports an operation as
// endless if it has sent at least leastEndless commands, there was no fault, and no other client uses the lock.
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

// onlyOne reports whether no client other than p and the hung ones holds the lock of p or has an operation on it under
// way. A hung client counts if it holds the lock.
func (r *run) onlyOne(p *clientState, hung ...*clientState) bool {
	for i := range r.clients {
		o := &r.clients[i]
		if o.id == p.id || o.dead || r.lockOf(o.id) != r.lockOf(p.id) {
			continue
		}
		if o.held > 0 || o.busy && !slices.Contains(hung, o) {
			return false
		}
	}
	return true
}

// happen carries out one action, which must be possible. Every action takes a virtual millisecond, as in package sim.
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

// takeStep lets the client's next command reach the broker. If no operation is under way, it first calls the next one.
// A fault in the action decides how much of the result the client receives.
//
// Sometimes takeStep only calls. If the call returns while its only command is at the gate, the client waits for no
// reply, and others may go on before that command passes. If the action chooses to call ahead (see Links), the waiting
// commands do not pass either.
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
	if cmd == nil { // the client does not wait for a command to pass
		return nil
	}
	if do == scenario.Lose && (closes(cmd) || !cmd.Replies()) { // then losing the reply has no effect of its own
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

// callNext calls the next operation of p, if none is under way or link asks for a call ahead. goes reports whether a
// command may pass in the same step.
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

// befalls carries out the fault do, after client c's command has reached the broker. The fault affects the client or
// the reply.
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

// await handles operations under way when no client can go on. A client that waits for a lock may give up by its own
// clock. If none does, their operations never end: await kills those clients, and the audit judges the lock.
func (r *run) await() error {
	if r.timed() {
		return r.awaitTimed()
	}
	r.pass(waitTime.Milliseconds())
	if up, err := r.outwait(); up || err != nil {
		return err
	}
	r.mu.Lock()
	for i := range r.clients { // what clients do from here is due to the time that passed
		r.clients[i].asleep, r.clients[i].due = false, true
	}
	r.mu.Unlock()
	r.outlastBlocked()
	came, err := r.wait(r.ctx, r.config.Limit, r.comes)
	if err == nil && !came {
		r.endHung(r.hung(), true)
	}
	return err
}

// awaitTimed is await for runs in which all clients have virtual time. Before it ends clients, it lets the time pass
// for which they were told to wait.
func (r *run) awaitTimed() error {
	if r.nextComes() {
		return nil
	}
	hung, left := r.hung(), int64(0)
	for _, p := range hung {
		left = max(left, p.timesUp-r.now)
	}
	r.pass(left)
	calm, err := r.comeToRest(r.ctx, r.handlesInPlay())
	if err == nil && len(r.hung()) == len(hung) && r.nextTimer((*clientState).sleeps) == 0 {
		r.endHung(hung, calm)
	}
	return err
}

// nextComes lets virtual time pass until something happens: the server answers a client that it keeps waiting, or a
// timer ends. Timers of clients without an operation count only a few times. It is false if nothing will happen.
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

// hung are the clients whose operations will not end if nothing more comes: they have no command at the gate.
func (r *run) hung() (all []*clientState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		if p := &r.clients[i]; p.sleeps() {
			all = append(all, p)
		}
	}
	return all
}

// endHung ends clients whose operations will not end. Without faults, such a client is wrong if nobody holds the lock,
// or if the time is over for which it was told to wait. If not all clients are calm, nobody is wrong: a client that
// still computes may be slow, and may be about to release what another waits for.
func (r *run) endHung(hung []*clientState, calm bool) {
	for _, p := range hung {
		switch {
		case !calm || r.befell.faulty():
		case r.onlyOne(p, hung...):
			r.accuse(property.Progress, p.id, 0, "the operation does not end though nobody holds the lock")
		case r.timed() && p.timesUp > 0 && r.now >= p.timesUp:
			r.accuse(property.Progress, p.id, 0, "the operation does not end though the time is over for which it was to wait")
		}
	}
	for _, p := range hung {
		r.uncontrolled.Hung++
		r.crash(p.id, false) // what its operation would have left is unknown
	}
}

// longestBlocked is the maximum number of virtual seconds for which a server may keep a client waiting.
const longestBlocked = 60

// outlastBlocked lets virtual time pass until the server has answered a client that it keeps waiting, for at most
// longestBlocked seconds. It reports whether the server did.
func (r *run) outlastBlocked() bool {
	blocked := func() (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i := range r.clients {
			// A client that is blocked between operations only watches something.
			if p := &r.clients[i]; p.calling && p.blocked() {
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

// mostOutwaited is the maximum number of times in a row that the runner lets time pass without result for clients that
// wait.
const mostOutwaited = 20

// outwait waits in real time for clients that are waiting for a lock and have a command at the gate. It gives their
// waiting time the chance to end, which depends only on their own clocks. up says that there was such a client.
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

// stuck reports whether a client's operation is under way although it has no command at the gate.
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

// done reports whether no client has an operation left, and the broker has noticed the end of every connection.
func (r *run) done() bool {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.dead && (p.busy || r.upcoming(p, uint8(i+1))) {
			return false
		}
	}
	return len(r.halfOpen) == 0
}

// complete ends client c's operation with the result that the client returned, if it has returned.
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
	if p.needless { // a needless release must change nothing, whatever its answer
		res.Outcome, res.Reason = lock.Failed, lock.NotHeld
	}
	r.conclude(p, res, answer)
	return nil
}

// ended handles a call with an error. The result is true if the error was that the client ended.
func (r *run) ended(p *clientState, answer *answer) (ended bool, err error) {
	if answer.err == nil {
		r.promises.Crashless(p.id, false, "")
		return false, nil
	}
	if !died(answer.err) {
		return false, answer.err
	}
	if p.needless { // after a needless release, this counts as an ordinary crash
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

// holds updates what p believes to hold after its operation, and whether it still has to release something.
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
	case res.Reason == lock.Disconnected: // the client reports that it has lost what it held
		p.held = 0
	}
	if p.op == lock.Release && res.Outcome != lock.Failed {
		p.owes = false
	}
}

// absent reports whether an acquire was answered with an error because its lock has no slots, that is, does not exist.
func (r *run) absent(p *clientState, res lock.Result, a *answer) bool {
	if res.Outcome != lock.Unknown || a == nil || a.said == "" || r.befell.faulty() {
		return false
	}
	_, most := r.slots(r.lockOf(p.id))
	return most == 0
}

// said adds to a result what clients need not return: the slot that was asked about, or the slot of a mutex. A refused
// acquire gets the reason that the lock is full, as the client claims no other.
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
