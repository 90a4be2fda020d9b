package foreign

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Ready implements [scenario.World]: it reports whether client c can take a step now.
func (r *run) Ready(c uint8) bool {
	p := &r.clients[c-1]
	if p.dead || p.wake > r.now || !r.turn(p) {
		return false
	}
	return p.first() != nil && (p.busy || !p.chatters()) || !p.busy && r.upcoming(p, c)
}

// mostByThemselves is the maximum number of commands that a client may send in a row between operations. A message that
// the client receives unasked restarts the count.
const mostByThemselves = 8

// chatters reports whether a client has sent too many commands in a row between operations, for example because it
// checks periodically what it holds. Its further commands then wait until its next operation is called, so that other
// clients can go on.
func (a *clientHandle) chatters() bool {
	return a.unasked >= mostByThemselves && timeOf(a.client) == nil
}

// atChange reports whether the next command of client p may change the state of a lock on the broker. If no command is
// at the gate, it is judged by p's next operation: all but verify and count may change the state.
func (r *run) atChange(p *clientState) bool {
	cmd := p.first()
	if cmd == nil {
		ops := r.sc.Clients[p.id-1].Ops
		return p.next < len(ops) && ops[p.next].Op != lock.Verify && ops[p.next].Op != lock.Count
	}
	return cmd.MayChange()
}

// atChanges reports whether the scenario has faults that lose or delay a reply. These faults occur at commands that may
// change state, and not after them.
func (r *run) atChanges() bool {
	return slices.ContainsFunc(r.sc.Faults, func(f scenario.Fault) bool {
		return f.Do == scenario.Lose || f.Do == scenario.CrashEffect || f.Do == scenario.Stall
	})
}

// SentBy implements [scenario.World]: the scenario says at which value of it a fault of client c occurs. By default it
// counts the calls of operations, their commands from the second to number mostWeighed, and the ends of operations with
// more commands. So a fault can occur in every operation and between any two, however many commands an operation needs.
// [scenario.Scenario.Deeper] makes SentBy count later commands of an operation, or all commands, or those that may
// change a lock.
func (r *run) SentBy(c uint8) uint16 {
	switch p := &r.clients[c-1]; {
	case r.sc.Deeper == scenario.EveryChange && p.changes > 0 && r.atChanges() && !r.atChange(p):
		return p.changes - 1
	case r.sc.Deeper == scenario.EveryChange:
		return p.changes
	case r.sc.Deeper == scenario.EveryCommand:
		return p.sent
	default:
		return p.weight
	}
}

// mostWeighed is the number of the last command of an operation that counts in SentBy. The first command does not
// count, because the call does. If [scenario.Scenario.Deeper] is d, the commands from d+2 to d+mostWeighed count.
const mostWeighed = 3

// weighs reports whether the n-th command of an operation, counted from 1, counts in SentBy.
func (r *run) weighs(n int) bool {
	n -= int(r.sc.Deeper)
	return n > 1 && n <= mostWeighed
}

// Ways implements [scenario.World]. It is 0: the random choices of an external client cannot be controlled.
func (r *run) Ways(uint8) int { return 0 }

// Links implements [scenario.World]: a set of the choices for the client's next step, as bits. There is one for each
// connection on which a command waits, at least one, and one more if the client's next operation may be called ahead of
// these commands.
func (r *run) Links(c uint8) uint8 {
	p := &r.clients[c-1]
	n := p.passes()
	if r.mayCallAhead(p) {
		n++
	}
	return 1<<n - 1
}

// passes is the number of choices that let one of the client's waiting commands pass, at least 1.
func (a *clientHandle) passes() int { return max(1, len(a.heads())) }

// mayCallAhead reports whether the next operation of client p may be called before a command passes. That command is
// one at the gate that p has sent by itself or, if p holds a lease, the first command of the operation. By the time the
// command passes, p's conclusions from its clock may be outdated, for example that its lease still lasts. This is
// possible only for clients with virtual time: for others, nothing is known of such conclusions.
func (r *run) mayCallAhead(p *clientState) bool {
	return !p.busy && timeOf(p.client) != nil && (p.held > 0 && p.lease.ends > 0 || p.first() != nil) && r.upcoming(p, p.id)
}

// Undetected implements [scenario.World]: the client of the oldest half-open connection, one that is dead but not yet
// noticed by the broker; 0 if there is none.
func (r *run) Undetected() uint8 {
	if len(r.halfOpen) == 0 {
		return 0
	}
	return r.numberOf(r.halfOpen[0].client)
}

// Wake implements [scenario.World]: the virtual milliseconds until a pause or a timer of a client ends; 0 if none will.
func (r *run) Wake() int64 {
	wake := int64(0)
	for i := range r.clients {
		p := &r.clients[i]
		if !p.dead && p.wake > r.now && (p.busy || r.upcoming(p, uint8(i+1))) && (wake == 0 || p.wake < wake) {
			wake = p.wake
		}
	}
	return max(0, earlier(wake-r.now, milliseconds(r.nextTimer((*clientState).sleeps))))
}

// earlier is the smaller positive one of a and b; 0 or less if neither is positive.
func earlier(a, b int64) int64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// first is the client's command at the gate that would pass next. It is nil if there is none, or if another command of
// the same connection must pass first.
func (a *clientHandle) first() gate.Command {
	if a.mayReorder() {
		return a.head(0)
	}
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	if len(a.parked) == 0 || !a.parked[0].IsNext() {
		return nil
	}
	return a.parked[0]
}

// mayReorder reports whether commands of one client on different connections may pass in another order than they
// arrived in. They may if there are several servers, or if the client has virtual time, because its threads may then
// send independently, for example to renew a lease. Without virtual time it is unknown whether the client waits for one
// command before it sends the next.
func (a *clientHandle) mayReorder() bool {
	return a.runner.server.Endpoints() > 1 || timeOf(a.client) != nil
}

// mostHeads is the maximum number of a client's waiting commands to choose from. The choice to call ahead comes in
// addition.
const mostHeads = 7

// heads are the client's commands at the gate that can pass next, one for each connection on which commands wait. The
// first element is the command that first returns.
func (a *clientHandle) heads() (all []gate.Command) {
	if !a.mayReorder() {
		if cmd := a.first(); cmd != nil {
			all = []gate.Command{cmd}
		}
		return all
	}
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	for _, cmd := range a.parked {
		if cmd.IsNext() {
			all = append(all, cmd)
		}
	}
	slices.SortStableFunc(all, func(a, b gate.Command) int { return a.Endpoint() - b.Endpoint() })
	return all[:min(len(all), mostHeads)]
}

// head is the element of heads with index link, or the last one if link is too large; nil if heads is empty.
func (a *clientHandle) head(link uint32) gate.Command {
	all := a.heads()
	if len(all) == 0 {
		return nil
	}
	return all[min(int(link), len(all)-1)]
}

// upcoming skips operations of p that make no sense now, such as a release without a hold. It reports whether an
// operation is left.
func (r *run) upcoming(p *clientState, c uint8) bool {
	ops := r.sc.Clients[c-1].Ops
	for p.next < len(ops) && !scenario.Sensible(ops[p.next].Op, p.held > 0) && !p.mayRelease(ops[p.next]) {
		p.next++
	}
	return p.next < len(ops)
}

// mayRelease reports whether op is a needless release, which the scenario makes although p holds nothing. If p is
// unsure what it holds, the release is not needless.
func (p *clientState) mayRelease(op scenario.Operation) bool {
	return op.Op == lock.Release && op.Arg == scenario.Anyway && p.held == 0 && !p.unsure
}

// lockOf is the number of the lock that client c uses. For a client that audits, it is the lock that it used last.
func (r *run) lockOf(c uint8) uint8 { return r.clients[c-1].lock }

// Can reports whether an action of the schedule is possible now.
func (r *run) Can(a scenario.Action) bool {
	if !r.playable(a.Kind) {
		return false
	}
	if a.Kind.Global() {
		return a.Client == 0
	}
	if a.Client == 0 || int(a.Client) > len(r.clients) {
		return false
	}
	p := &r.clients[a.Client-1]
	switch a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		return r.Ready(a.Client)
	case scenario.Stall:
		return r.Ready(a.Client) && !p.awaited()
	case scenario.Arrive:
		return p.awaited() || !p.dead && len(r.untold(p)) > 0
	case scenario.CrashBefore, scenario.Pause:
		return !p.dead
	case scenario.Drop, scenario.ChannelError:
		return !p.dead && len(r.open(p)) > 0
	case scenario.Detect:
		return slices.ContainsFunc(r.halfOpen, func(l *connection) bool { return l.client == p.clientHandle })
	}
	return false
}

// idle lets a long time pass in which no command passes, so that clients cannot renew their holds. A hold therefore
// ceases to be certain until the client is told again that it holds the lock. Holds with leases are not affected, as
// the end of a lease is known.
func (r *run) idle(seconds int64) {
	for i := range r.clients {
		if p := &r.clients[i]; !r.about.Leases && !p.dead && (p.held > 0 || p.busy) {
			r.event(history.Gone, p.id)
		}
	}
	r.pass(1000 * seconds)
}

// pass lets ms milliseconds of virtual time pass. It stops at each timer of a client, so that the client can react.
func (r *run) pass(ms int64) {
	for ms > 0 {
		step := earlier(ms, milliseconds(r.nextTimer(anybody)))
		r.passOn(step)
		if ms -= step; ms > 0 {
			_, _ = r.comeToRest(r.ctx, r.handlesInPlay()) // an error shows in the next call of settle
		}
	}
}

// passOn lets ms milliseconds of virtual time pass without a stop.
func (r *run) passOn(ms int64) {
	r.now += ms
	r.record.At(r.now)
	if !r.auditing {
		r.promises.At(r.now)
	}
	r.advance(time.Duration(ms) * time.Millisecond)
	r.lapse()
	for i := range r.clients {
		if p := &r.clients[i]; p.paused && p.wake <= r.now {
			p.wakeUp()
		}
	}
}

func (a *clientHandle) wakeUp() {
	a.runner.mu.Lock()
	a.paused, a.timer = false, timer{}
	a.runner.mu.Unlock()
	if a.client != nil {
		a.client.Continue()
	}
}

// has reports whether connection l is open on the broker.
func (r *run) has(l *connection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.opened && !l.released
}

// open are the connections of client p that are open on the broker and not half-open.
func (r *run) open(p *clientState) (open []*connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range p.connections {
		if l.opened && !l.released && !l.halfOpen {
			open = append(open, l)
		}
	}
	return open
}

// invoke calls client c's next operation, unless one is under way.
func (r *run) invoke(c uint8) {
	p := &r.clients[c-1]
	if p.busy || !r.upcoming(p, c) {
		return
	}
	op := r.sc.Clients[c-1].Ops[p.next]
	p.next++
	p.called++
	r.call(p, r.lockOf(c), op)
}

// call calls operation op of client p on lock l, and records the invocation.
func (r *run) call(p *clientState, l uint8, op scenario.Operation) {
	p.busy, p.lock, p.op, p.arg, p.needless = true, l, op.Op, op.Arg, p.mayRelease(op)
	p.counted, p.weight, p.timesUp = 0, p.weight+1, 0
	params := Params{Name: r.place(r.sc.Locks[l].Name)}
	switch op.Op {
	case lock.Acquire:
		params.Lease = r.leased(p)
		switch {
		case r.about.Limits:
			params.Limit = int(p.arg)
		case waits(op):
			params.Timeout, p.arg, p.timesUp = waitTime, 0, r.now+waitTime.Milliseconds()
		}
		r.about.Share(&params, op.Share)
	case lock.Verify, lock.Refresh, lock.Release:
		p.arg = max(1, p.held)
		params.Slot = int(p.arg)
		params.Lease = r.extending(p)
	case lock.Wait:
		params.Slot = int(op.Arg)
	case lock.Create, lock.Add, lock.Remove:
		params.Slots = int(op.Arg)
	}
	if r.burst > 0 {
		p.before = p.address.Counts()
	}
	if !r.auditing {
		// The cost of an acquire that may wait is not judged, because it may ask for the lock again and again.
		r.promises.Begin(p.id, l, op.Op, p.arg, r.bears(p) && params.Timeout == 0)
	}
	r.record.invoke(p, l, r.alike, &params)
	p.clientHandle.call(op.Op, params)
}

// waits reports whether op is an acquire that may wait for the lock.
func waits(op scenario.Operation) bool { return op.Op == lock.Acquire && op.Arg == scenario.Waiting }

// bears reports whether the cost of an operation of p counts for the promises about cost. It does if p has a connection
// and there was no fault, as p then has nothing to repair.
func (r *run) bears(p *clientState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.befell.faulty() && (r.shared || p.current != nil)
}
