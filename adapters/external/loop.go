package external

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// loop is how every execution goes, whoever chooses. Each time round one action happens, such as a command that passes
// the gate and is answered, and then everybody is waited for. When the next is chosen, all clients stand still: with a
// command at the gate, or idle. over says that everybody has done what there was to do.
func (r *run) loop(choose chooser) (over bool, err error) {
	for limit := r.sc.StepLimit(); len(r.record.Steps) < limit; {
		if r.bound > 0 && len(r.record.Steps) >= r.bound {
			return false, nil
		}
		a, ok := choose.Next(r)
		if ok {
			instead, err := r.precede(a)
			if err != nil {
				return false, err
			}
			if instead {
				continue
			}
		}
		switch {
		case ok && r.renewed(a):
			r.uncontrolled.Unidled++
			continue
		case ok && !r.Can(a):
			r.uncontrolled.Unplayed++
			continue
		case ok:
			err = r.happen(r.which(a))
		case r.overdueReplies() > 0:
			err = r.happen(scenario.Action{Kind: scenario.Arrive, Client: r.overdueReplies()})
		case r.stuck():
			err = r.happen(scenario.Action{Kind: scenario.Advance})
		default:
			return r.done(), nil
		}
		if err == nil {
			err = r.settle()
		}
		if err != nil {
			return false, err
		}
		r.finish()
	}
	for i := range r.clients { // an execution that is not over by then has not made progress
		if p := &r.clients[i]; p.busy && p.counted >= leastTried && !r.outwaited(p) {
			r.unfinished(uint8(i + 1))
		}
	}
	return false, nil
}

// leastTried is how many commands of an operation have passed, at least, for it to be taken for one that does not end: a schedule
// may have let only others go on.
const leastTried = 40

// outwaited reports whether an operation that is not over waits for something that nobody has done yet: one that waits for a lock
// may ask as often as it has the time to, and one that waits for a slot until its holder has given it back, where the guidelines
// do not say how often it may look.
func (r *run) outwaited(p *clientState) bool {
	others := func(o clientState) bool {
		return o.id != p.id && !o.dead && r.lockOf(o.id) == r.lockOf(p.id) && (o.busy || o.held > 0)
	}
	return p.mayWait && p.overtime < mostOvertime || p.op == lock.Wait && !r.design.Guided() && slices.ContainsFunc(r.clients, others)
}

// happen carries out one action, which must be possible. As in package sim, every action takes a virtual
// millisecond.
func (r *run) happen(a scenario.Action) error {
	r.record.Begin(a)
	r.pass(1)
	switch c := a.Client; a.Kind {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose, scenario.Stall:
		return r.takeStep(c, a.Kind, a.Late)
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
		r.breakChannel(c)
	case scenario.Detect:
		r.detect(c)
	case scenario.Advance:
		if a.Arg == 0 {
			return r.await()
		}
		r.pass(int64(a.Arg))
	case scenario.Idle:
		r.unrenewed = r.unrenewed || r.renewable(a)
		r.pass(1000 * int64(a.Arg))
	case scenario.Restart:
		r.restart()
	}
	return nil
}

// takeStep has the client's next command reach the broker, and calls its next operation first where none
// is under way. How much of that the client lives to see is the action's.
func (r *run) takeStep(c uint8, do scenario.ActionKind, late bool) error {
	p := &r.clients[c-1]
	if p.first() == nil || !p.busy && p.chatters() {
		r.invoke(c)
		if err := r.settle(); err != nil {
			return err
		}
	}
	cmd := p.first()
	if cmd == nil { // it needed none
		return nil
	}
	if err := r.awaitBatch(p); err != nil {
		return err
	}
	if do == scenario.Lose && (closes(cmd) || !cmd.Replies) { // the end of the socket says the same, or there is none
		do = scenario.Step
		r.record.Step.Action.Kind = do
	}
	if do == scenario.Stall {
		r.stall(r.connections[cmd.Conn])
	}
	l := r.deliver(c, cmd, do == scenario.CrashEffect || do == scenario.Lose)
	if l == nil {
		return nil
	}
	switch do {
	case scenario.Stall:
		return r.resigns(p, cmd)
	case scenario.CrashEffect:
		r.crash(c, late)
	case scenario.Lose:
		p.unheard = cmd
		r.loseReply(l, late)
	case scenario.CrashReply:
		if err := r.settle(); err != nil {
			return err
		}
		r.crash(c, late)
	}
	return nil
}

// settle waits until every client is at the gate, or done with its operation, and takes in what is over.
func (r *run) settle() error {
	calm, err := r.wait(r.ctx, r.patience(r.config.Patience), r.all(func(a *clientHandle) bool { return a.lulled() || a.quiet() || len(a.parked) > 0 }))
	if err == nil {
		err = r.lull()
	}
	if err != nil {
		return err
	}
	if calm {
		err = r.onward()
	} else {
		r.leaveAsleep()
	}
	if err == nil {
		err = r.follow()
	}
	if err == nil {
		err = r.collect()
	}
	return err
}

// all is whether something holds of every client of the run. mu is held when it is asked.
func (r *run) all(quiet func(*clientHandle) bool) func() bool {
	return func() bool {
		for i := range r.clients {
			if !quiet(r.clients[i].clientHandle) {
				return false
			}
		}
		return true
	}
}

// leaveAsleep has the others go on without those who do nothing.
func (r *run) leaveAsleep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		if a := r.clients[i].clientHandle; !a.quiet() {
			a.asleep = true
			r.uncontrolled.Thought++
		}
	}
}

// onward waits for those who go on behind a command without an answer: it keeps nobody from that. Who was waited for
// in vain there before, is not waited for long.
func (r *run) onward() error {
	limit := min(r.config.Patience, goesOnWithin)
	r.mu.Lock()
	for _, at := range r.resting() {
		if r.rests[at] {
			limit = r.config.Grace
		}
	}
	r.mu.Unlock()
	calm, err := r.wait(r.ctx, limit, r.all((*clientHandle).quiet))
	if calm || err != nil {
		return err
	}
	r.uncontrolled.Unanswered++
	r.mu.Lock()
	for _, at := range r.resting() {
		r.rests[at] = true
	}
	r.mu.Unlock()
	return nil
}

// goesOnWithin is how long who stands behind a command without an answer takes to go on, if it does so by itself. It may as well
// wait for what that command brings it, and no longer than so long.
const goesOnWithin = 250 * time.Millisecond

// rest is where a client may wait for something else than a reply: behind a command to which there is none.
type rest struct {
	op     lock.Op
	method frame.ID
	told   bool // how long it may wait for the lock, where it gives up by its clock
}

// resting is where clients are that are not quiet. mu is held.
func (r *run) resting() (all []rest) {
	for i := range r.clients {
		if p := &r.clients[i]; !p.quiet() && len(p.parked) > 0 {
			all = append(all, rest{op: p.doing, method: p.parked[len(p.parked)-1].Method.ID()})
		}
	}
	return all
}

// follow waits for what clients do without being told to.
func (r *run) follow() error {
	for i := range r.clients {
		for _, wait := range []func(context.Context, *clientHandle) (bool, error){r.outrun, r.Runner.follow} {
			came, err := wait(r.ctx, r.clients[i].clientHandle)
			if err != nil {
				return err
			}
			if !came {
				r.uncontrolled.Thought++
			}
		}
	}
	return nil
}

// collect takes in which operations are over, and which connections clients have closed.
func (r *run) collect() error {
	r.mu.Lock()
	var hung []*connection
	var over []uint8
	for i := range r.clients {
		p := &r.clients[i]
		if r.paired && r.numberOf(p.clientHandle) != p.id {
			continue
		}
		for _, l := range p.connections {
			left := slices.ContainsFunc(p.parked, func(c *wire.Command) bool { return c.Conn == l.conn })
			if l.hungUp && !l.halfOpen && (l.released || !left) { // what it has sent before is still on its way
				hung = append(hung, l)
			}
		}
	}
	for i := range r.clients {
		p := &r.clients[i]
		if p.answer != nil && p.settled && (p.busy || !r.paired) && !r.trails(p) {
			over = append(over, uint8(i+1))
		}
	}
	r.mu.Unlock()
	for _, l := range hung {
		r.hangUp(l)
	}
	for _, c := range over {
		if err := r.complete(c); err != nil {
			return err
		}
	}
	return nil
}

// trails reports whether an operation that was answered has sent something that is still at the gate. A release, one that
// closes a connection, and any operation where locks are not held by queues, is over only when that has reached the broker:
// what gives a lock back may have no answer, or none that is waited for. Whoever holds has been answered what it waits for. mu is
// held.
func (r *run) trails(p *clientState) bool {
	n := len(p.parked)
	gives := n > 0 && !(p.answer.result.Held && p.parked[n-1].Replies) && (r.design.Holding != recognise.ByQueue || p.op == lock.Release || p.parked[n-1].Method.ID() == frame.ConnectionCloseID)
	if gives && (p.tail == nil || p.trailed < mostCauses && !slices.Contains(p.parked, p.tail) && p.cause.op == 0) {
		if p.tail == nil {
			r.uncontrolled.Trailed++
		}
		p.tail = p.parked[n-1]
		p.trailed++
	}
	return slices.Contains(p.parked, p.tail)
}

// hangUp is a client that has closed its socket.
func (r *run) hangUp(l *connection) {
	if r.has(l) {
		r.uncontrolled.HungUp++
		r.lose(l, byItself)
	}
	l.conn.Release()
	r.mu.Lock()
	l.client.forget(l)
	r.mu.Unlock()
}

// stuck reports whether somebody is still at it though nobody can go on.
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

// giveUp ends the operations that never do. Whoever called them is ended as well.
func (r *run) giveUp() {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.busy || !p.calling {
			continue
		}
		r.uncontrolled.Hung++
		if forEver, known := r.ends(p); forEver || !known {
			if p.befallen() {
				r.hung[p.hangs()] = true
			}
			r.unfinished(uint8(i + 1))
		}
		r.crash(uint8(i+1), false) // what its operation would have left nobody knows
	}
}

// hangs is where a client waits for a reply that cannot come: whatever it was called for, its driver does the same there. Where its
// connection is there still, that is known by the operation.
func (p *clientState) hangs() rest {
	if p.unheard == nil {
		return rest{op: p.op, told: p.mayWait}
	}
	return rest{method: p.unheard.Method.ID(), told: p.mayWait}
}

// befallen reports whether something has happened to a client for which it may wait in vain.
func (p *clientState) befallen() bool { return p.unheard != nil || p.struck }

// ends says whether a client that waits in vain is known to do so for ever, or to end by itself long after.
func (r *run) ends(p *clientState) (forEver, known bool) {
	if p.befallen() {
		forEver, known = r.hung[p.hangs()]
	}
	return forEver, known
}

// lateAtLast reports whether all who are still at it may end by themselves, later: something has befallen them, and it is not known
// of them yet what becomes of it.
func (r *run) lateAtLast() bool {
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && p.calling {
			if _, known := r.ends(p); known || p.unheard != nil || !p.struck {
				return false
			}
		}
	}
	return true
}

// outwait waits for as long as drivers do, so that one that ends by itself is not said to wait for ever.
func (r *run) outwait(goesOn func() bool) (came bool, err error) {
	r.looking(true)
	defer r.looking(false)
	if came, err = r.wait(r.ctx, r.config.Driver, goesOn); !came || err != nil {
		return came, err
	}
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && p.calling && p.befallen() {
			r.hung[p.hangs()] = false
		}
	}
	return came, err
}

// waitsInVain says which reply a client waits for that cannot come, if it does.
func (p *clientState) waitsInVain() string {
	if p.unheard == nil {
		return ""
	}
	return fmt.Sprintf("its connection was lost before %s was answered, and it waits on", p.unheard.Method.ID())
}

// patience is how long those are waited for who are at work, of as long as anybody is: an eighth where clients were seen to wait
// for a reply that cannot come until they were ended, unless what was found is being confirmed, or to end by themselves long after.
func (r *run) patience(longest time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := longest
	for i := range r.clients {
		p := &r.clients[i]
		if !p.busy || !p.calling || len(p.parked) > 0 {
			continue
		}
		forEver, known := r.ends(p)
		if !known || forEver && (r.patient || p.unheard == nil) {
			return longest
		}
		limit = longest / 8
	}
	return limit
}

// unfinished is an operation that does not end. In other designs than the guidelines', it may wait for whoever holds the
// lock: there it is one that should have, as nothing has gone wrong, and it was told for how long it may wait, or nobody
// else holds anything or is at work.
func (r *run) unfinished(c uint8) {
	if !r.design.Channels() {
		r.monitor.Unfinished(c, r.clients[c-1].waitsInVain())
	}
	if r.design.Holding == recognise.ByQueue {
		return
	}
	told := r.clients[c-1].mayWait
	for i := range r.clients {
		if p := &r.clients[i]; !told && i != int(c)-1 && (p.busy || p.held > 0) {
			return
		}
	}
	detail := "the operation does not end though nobody holds the lock"
	if told {
		detail = "the acquire does not end though its time is up"
	}
	for _, e := range r.record.Events {
		if e.Process == history.Nemesis || e.Type == history.Info {
			return
		}
	}
	r.noProgress(c, detail)
}

// noProgress takes in that a client does not make progress, which the monitor does not see.
func (r *run) noProgress(c uint8, detail string) {
	r.record.Violations = append(r.record.Violations, scenario.Violation{
		Violation: property.Violation{Property: property.Progress, Kind: r.config.Kind, Client: c, Detail: detail},
		Step:      len(r.record.Steps),
	})
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
