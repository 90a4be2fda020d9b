package external

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// watch has the monitor begin.
func (r *run) watch() {
	r.survey()
	r.record.names = r.names.names
	if r.design.Known() {
		r.record.setUp(r.truth)
	}
	r.monitor.Checks = r.config.Checks
	r.monitor.Reset(r.config.Kind, lock.Facts{SharedSession: r.shared}, len(r.clients), r.truth[:len(r.sc.Locks)])
	r.monitor.Unbound()
	r.monitor.Foreign()
	for i, l := range r.sc.Locks {
		if l.Missing != 0 {
			r.monitor.BeginsWithHoles(uint8(i))
		}
	}
	if r.design.Channels() {
		r.monitor.Drains()
	}
	if !r.design.Admin.Known() {
		r.monitor.Unguarded()
	}
	if r.design.Permits() {
		r.monitor.Has(lock.Permits)
	}
	r.monitor.Speaks(r.design.Words())
}

// model is a command in the model's terms, with the names of traces.
func (r *run) model(cmd *wire.Command, channel uint16) amqp.Command {
	m := cmd.Model(func(name string) amqp.Queue {
		if name == "" {
			return 0
		}
		return r.names.names.Intern(r.canonical(name))
	})
	m.Channel, m.Pipelined = channel, cmd.Pipelined
	return m
}

// told tells the monitor of a command that reached the broker, and what it changed.
func (r *run) told(c uint8, l *connection, cmd *wire.Command, m amqp.Command, reply amqp.Reply) {
	p := &r.clients[c-1]
	if m.Method == amqp.ConnectionOpen {
		r.opened(c, l)
	}
	p.mend(&r.monitor, m, reply)
	if cmd.Replies && p.untold == (owner{l, cmd.Channel}) {
		p.untold = owner{}
	}
	x := m.Exchange(reply, cmd.Replies)
	x.RoundTrip = x.RoundTrip && (cmd.Replies || m.Method != amqp.BasicPublish) // in a transaction, it is waited for the commit alone
	r.monitor.Exchange(c, &x)
	switch {
	case m.Method == amqp.ConnectionClose || reply.Kind == amqp.ConnectionClosed:
		if r.has(l) {
			r.lose(l, byItself)
		}
	case reply.Kind == amqp.ChannelClosed && reply.Code == amqp.PreconditionFailed && p.op == lock.Acquire:
		if r.othersHold(p) || r.inTheWay(p) || r.abandoned(cmd) { // the lock may be told to be somebody's by how its queue was declared
			p.refused = true
			r.monitor.Hinders(c)
		} else {
			p.denied = true
		}
	case reply.Kind == amqp.ChannelClosed && !reply.Code.Refusal() && reply.Code != amqp.NotFound:
		p.troubled = true
	}
	p.vanished = p.vanished || reply.Kind == amqp.ChannelClosed && reply.Code == amqp.NotFound && !m.Flags.Has(amqp.Passive)
	absent := reply.Kind == amqp.ChannelClosed && reply.Code == amqp.NotFound && p.op == lock.Release && r.removed(p)
	if absent || p.vanished && r.record.timed { // somebody has taken it away, or it may have expired while its client did nothing
		p.troubled = true
		r.monitor.Lost(c)
	}
	if reply.Kind == amqp.ChannelClosed && reply.Code == amqp.NotFound && p.op == lock.Acquire && (p.since[lock.Remove] || p.since[lock.Destroy]) {
		r.strike(l.client) // somebody has taken away what it is about to acquire
	}
	asked := m.Flags.Has(amqp.Passive) && r.design.Holding == recognise.ByQueue // it was told that the queue is somebody's, and claimed nothing
	p.refused = p.refused || reply.Kind == amqp.ChannelClosed && reply.Code.Refusal() && !asked
	p.shifted = p.shifted || reply.Kind == amqp.ChannelClosed || m.Method == amqp.ChannelClose
	what := r.names.mean(m.Queue)
	claims := what.Known && m.Method == amqp.QueueDeclare // which the monitor counts itself
	if reply.Kind == amqp.ChannelClosed && reply.Code.Refusal() && (r.design.Channels() || !asked && !claims && (what.Known || r.inTheWay(p))) {
		r.monitor.Hinders(c)
	}
	r.touch(c, m, reply, &x)
	if what.Known && what.Role == backend.Holder && r.took(c, cmd, m, reply) {
		p.holds(m.Method, what.Slot)
	}
}

// removed reports whether the slot that a client releases is there no more, as far as that is known.
func (r *run) removed(p *clientState) bool {
	return r.design.Known() && r.truth[r.lockOf(p.id)].Exists&(1<<p.arg) == 0
}

// took reports whether a command has declared or deleted the queue of a slot's holder. Where it has no answer, that shows by whose
// the queue is now.
func (r *run) took(c uint8, cmd *wire.Command, m amqp.Command, reply amqp.Reply) bool {
	if cmd.Replies {
		return reply.Kind == amqp.OK
	}
	what := r.names.mean(m.Queue)
	has := r.truth[what.Lock].Owner[what.Slot] == c
	return has == (m.Method == amqp.QueueDeclare)
}

// inTheWay reports whether a client may be refused what is not known to be its lock's: somebody else is at work on the lock,
// or died and has not been noticed, or nothing of it is free.
func (r *run) inTheWay(p *clientState) bool {
	l := r.lockOf(p.id)
	r.mu.Lock()
	dead := len(r.halfOpen) > 0
	r.mu.Unlock()
	return dead || r.truth[l].Free() == 0 || slices.ContainsFunc(r.clients, func(o clientState) bool {
		return o.id != p.id && o.busy && r.lockOf(o.id) == l
	})
}

// abandoned reports whether a command declares a queue that somebody who was interrupted may have left, and that goes by itself.
func (r *run) abandoned(cmd *wire.Command) (so bool) {
	declare, is := cmd.Method.(*frame.QueueDeclare)
	if !is || r.record.plain() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broker.Observe(func(v wire.State) { so = v.Lapses(declare.Queue) })
	return so
}

// mend keeps account of channels that the broker has closed: a client may open another one in a later operation, when it
// needs it.
func (p *clientState) mend(m *monitor.Monitor, cmd amqp.Command, reply amqp.Reply) {
	switch {
	case cmd.Method == amqp.ConnectionOpen:
		p.broken, p.owed = 0, 0
	case reply.Kind == amqp.ChannelClosed:
		p.broken++
	case cmd.Method == amqp.ChannelOpen && p.broken > 0:
		p.broken--
		if p.owed > 0 {
			p.owed--
			m.Mends(p.id)
		}
	}
}

// holds notes that the operation has declared or deleted the queue of a slot's holder.
func (p *clientState) holds(do amqp.Method, slot uint8) {
	switch {
	case do == amqp.QueueDeclare:
		p.claimed = slot
	case do == amqp.QueueDelete && p.claimed == slot:
		p.claimed, p.withdrawn = 0, slot
	}
}

// opened is a client that has a further connection.
func (r *run) opened(c uint8, l *connection) {
	p := &r.clients[c-1]
	for _, o := range r.playing(p.clientHandle) {
		o.incarnation++
		o.severed, o.forsaken, o.deadEnds, o.bereft = false, false, 0, false
	}
	l.incarnation = p.incarnation
	r.several = r.several || !r.shared && len(r.open(p)) > 1
	if p.busy && p.op == lock.Acquire { // what it is granted goes with it
		p.process = r.processOf(c, l.incarnation)
		r.record.Events[p.invoked].Process = p.process
	}
}

// touch tells the monitor of a command on a lock's queue.
func (r *run) touch(c uint8, m amqp.Command, reply amqp.Reply, x *backend.Exchange) {
	mean := r.names.mean(m.Queue)
	if m.Args.Has&(amqp.HasExpires|amqp.HasMessageTTL) != 0 {
		r.record.timed = true
	}
	if r.design.Known() && mean.Known {
		if len(r.sc.Locks) > 1 {
			r.monitor.Named(c, !mean.Collides)
		}
		if !mean.Collides {
			x.Role, x.Lock, x.Slot, x.Known = mean.Role, mean.Lock, mean.Slot, true
			r.monitor.Touch(c, x)
		}
	}
	if changes(m, reply) || (r.design.Channels() || r.design.Filled) && moves(m) {
		r.changed(c)
	}
}

// changes reports whether a command may change which queues there are, or whose: one that is deleted with its last
// consumer goes with that one's channel, too.
func changes(m amqp.Command, reply amqp.Reply) bool {
	switch m.Method {
	case amqp.QueueDeclare:
		return !m.Flags.Has(amqp.Passive) || reply.Kind == amqp.ChannelClosed
	case amqp.QueueDelete, amqp.BasicCancel, amqp.ChannelClose:
		return true
	}
	return reply.Kind == amqp.ChannelClosed
}

// changed tells the monitor what the broker has of the locks, where it is something else than before.
func (r *run) changed(c uint8) {
	before := r.truth
	if c > 0 && r.clients[c-1].busy && r.clients[c-1].op.Administrative() { // what it takes away is removed, not lost
		r.filled[r.sc.Clients[c-1].Lock] = 0
		r.permits[r.sc.Clients[c-1].Lock].total = 0
	}
	r.mover = c
	r.survey()
	if r.truth != before {
		r.mu.Lock()
		for i := range r.clients { // who waits without being called may be granted something now
			r.clients[i].unasked = 0
		}
		r.mu.Unlock()
	}
	r.givesUpAll(c, &before)
	for l := range r.sc.Locks {
		if r.truth[l] != before[l] {
			r.tokens[l].claimed(&before[l], &r.truth[l])
			r.monitor.SetTruth(uint8(l), c, &r.truth[l])
		}
	}
}

// givesUpAll takes what a client's process gives up of another lock, after something has befallen it, for gone with that: drivers
// cancel and close all that they have then, one after the other.
func (r *run) givesUpAll(c uint8, before *[lock.MaxLocks]monitor.Truth) {
	if c == 0 || !r.paired {
		return
	}
	has := func(p *clientState, of *[lock.MaxLocks]monitor.Truth) bool {
		return slices.Contains(of[r.lockOf(p.id)].Owner[:], p.id)
	}
	if p := &r.clients[c-1]; p.busy && p.op == lock.Release && has(p, before) && !has(p, &r.truth) {
		return // it gives back what it has, and takes the other along
	}
	for _, o := range r.playing(r.clients[c-1].clientHandle) {
		if o.id != c && !o.busy && o.held > 0 && o.struck && has(o, before) && !has(o, &r.truth) {
			r.deprived(o, true)
			r.event(history.Gone, o.process)
		}
	}
}

// survey looks up what the broker has of the locks. Where that can't be told, every slot is said to
// exist: what is judged then does not look at it.
func (r *run) survey() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.design.Known() {
		for l := range r.sc.Locks {
			r.truth[l] = monitor.Truth{Exists: monitor.AllSlots}
		}
		return
	}
	r.broker.Observe(func(v wire.State) {
		for l := range r.names.layouts {
			r.truth[l] = r.surveyed(v, uint8(l))
			r.unsettle(uint8(l))
		}
	})
}

// ownerOf is the client whose connection that is; of two that are one process, the one that uses the lock. mu is held.
func (r *run) ownerOf(of uint8, l *connection) uint8 {
	if r.shared && l != nil { // the first stands for all
		return 1
	}
	if l == nil {
		return 0
	}
	c := uint8(0)
	for i := range r.clients {
		if p := &r.clients[i]; p.clientHandle == l.client && (c == 0 || r.lockOf(p.id) == of) {
			c = p.id
		}
	}
	if l.halfOpen && c > 0 {
		return c | monitor.HalfOpen
	}
	return c
}

// complete ends a client's operation.
func (r *run) complete(c uint8) error {
	p := &r.clients[c-1]
	answer := p.take()
	if answer == nil || !p.busy {
		return nil
	}
	if answer.err != nil && !errors.Is(answer.err, ErrDied) {
		return answer.err
	}
	if answer.err != nil {
		if p.needless { // it was called for nothing: that is a crash like any other
			r.uncontrolled.Died++
		} else {
			r.crashed(c, answer.err)
		}
		r.conclude(p, c, lock.Result{Outcome: lock.Unknown, Reason: lock.Crashed})
		r.crash(c, false)
		return nil
	}
	r.monitor.Crashless(c, false, "")
	res := answer.result
	r.overruns(p, res)
	r.outlasts(p, res)
	r.outlives(p, res)
	r.crosses(p, res)
	p.unaware = p.unaware && res.Outcome == lock.Done
	if !p.needless {
		res = r.interpret(p, res)
	}
	if res.Held && answer.token > 0 {
		r.fenced(p, res.Slot, answer.token)
	}
	r.conclude(p, c, res)
	r.record.explain(answer.said)
	return nil
}

// crashed is a call of client c, or of the one that makes and destroys the locks (0), that ended its client.
func (r *run) crashed(c uint8, err error) {
	r.uncontrolled.Died++
	r.monitor.Crashless(c, true, strings.TrimPrefix(err.Error(), ClientName(int(c))+", "))
	if c > 0 {
		r.monitor.Lost(c) // what its call came to is a consequence
	}
}

// tellFallen tells of a client that ended by itself before the run, and reports whether the locks are there.
func (r *run) tellFallen() (ready bool) {
	if err := r.fallen; err != nil {
		r.fallen = nil
		r.crashed(0, err)
	}
	return r.config.Kind == lock.Mutex || r.handles[0].client != nil
}

// interpret adds to a result what its client did not say: the slot that was asked about, and why the
// answer is no. A client whose connection broke while it acquired cannot know that it got nothing; nor can one that
// has given up a connection release, before the broker knows of that, what it holds by it.
func (r *run) interpret(p *clientState, res lock.Result) lock.Result {
	switch p.op {
	case lock.Count:
		if !r.design.Guided() && r.leftBy(p, lock.Create, lock.Add, lock.Remove, lock.Destroy) { // by another design what is left may count or not
			r.monitor.CountsAny(p.id)
		}
	case lock.Verify, lock.Wait:
		res.Slot = p.arg
		if p.op == lock.Wait && res.Outcome == lock.Unknown && res.Reason == lock.NoReason { // whatever its error says, it has changed nothing
			res.Outcome = lock.Failed
		}
	case lock.Release:
		if res.Slot = p.arg; res.Outcome == lock.Done && r.heldHalfOpen(p) {
			r.monitor.Lost(p.id)
			res.Outcome, res.Reason = lock.Unknown, lock.Disconnected
		}
	case lock.Acquire:
		if !res.Held && r.mayMiss(p) {
			p.refused = true
			r.monitor.Hinders(p.id)
		}
		if res.Outcome == lock.Done && !res.Held { // an error says only that nothing came of it
			res.Outcome, res.Reason = lock.Failed, r.refusal(p)
			if p.cutOff {
				res.Outcome, res.Reason = lock.Unknown, lock.Disconnected
			}
		}
		if res.Outcome == lock.Failed && p.withdrawn > 0 {
			res.Slot, res.Reason = p.withdrawn, lock.Withdrawn
		}
		if res.Held && res.Slot == 0 && r.config.Kind != lock.Semaphore {
			res.Slot = 1
		}
		if res.Held {
			p.said = res.Slot
		}
		if res.Held && r.design.Permits() {
			res.Slot = r.permitOf(p)
		}
		if res.Held && r.design.Alike && !r.design.Known() {
			res.Slot = r.numberOfAlike(p)
		}
	}
	if res.Reason == lock.NoReason {
		res.Reason = r.reason(p, res)
	}
	return res
}

// heldHalfOpen reports whether what a client holds may be had by a connection that it has given up.
func (r *run) heldHalfOpen(p *clientState) bool {
	return slices.ContainsFunc(r.halfOpen, func(l *connection) bool { return l == p.grant || !r.design.Known() && l.client == p.clientHandle })
}

// reason is why an operation did not give what was asked for, as far as that can be seen from outside.
func (r *run) reason(p *clientState, res lock.Result) lock.Reason {
	switch {
	case p.op == lock.Verify && res.Outcome == lock.Done && !res.Held:
		switch {
		case r.loose() && (p.shifted || r.record.timed), !p.stale && p.troubled: // it may have lost it, or given it up for that
			return lock.NoReason
		case p.replaced(): // what is there now may be another one to its library
			return lock.NoReason
		case p.stale:
			return lock.Disconnected
		}
		return lock.Removed
	case res.Outcome != lock.Failed:
		return lock.NoReason
	case p.op == lock.Acquire && (p.troubled || p.denied):
		return lock.Disconnected
	case p.op == lock.Wait:
		return lock.GaveUp
	case p.op.Administrative() && !p.troubled, p.op == lock.Count && p.met && r.design.Known():
		return lock.Busy
	}
	return lock.NoReason
}

// othersHold reports whether somebody else has the lock that a client is at, or a slot of it, as far as that is known.
func (r *run) othersHold(p *clientState) bool {
	t := &r.truth[r.lockOf(p.id)]
	for s, owner := range t.Owner {
		if t.Taken&(1<<s) != 0 && owner != p.id {
			return true
		}
	}
	return false
}

// refusal is why an acquire was answered with no.
func (r *run) refusal(p *clientState) lock.Reason {
	switch {
	case p.troubled, p.denied && !p.refused:
		return lock.Disconnected
	case p.refused && r.design.Channels(), r.limited(p):
		return lock.NoReason
	case p.refused && r.design.Known():
		return lock.GaveUp
	}
	return lock.Full
}

// conclude records how a client's operation ended.
func (r *run) conclude(p *clientState, c uint8, res lock.Result) {
	p.busy = false
	r.tokens[r.lockOf(c)].End(p.op, res.Outcome == lock.Done || res.Outcome == lock.Failed)
	if p.counted > 1 && !r.weighs(p.counted) {
		p.weight++
	}
	r.mu.Lock()
	now := p.current
	if p.worked = 0; now != nil {
		p.worked = now.session()
	}
	r.mu.Unlock()
	switch {
	case p.needless:
		p.upset = p.upset || res.Outcome != lock.Done || p.shifted
		res.Outcome, res.Reason = lock.Failed, lock.NotHeld
	case p.op == lock.Acquire && res.Outcome == lock.Done:
		p.held, p.stale, p.struck = min(res.Slot, monitor.Slots), false, r.dwells(p)
		p.grant, p.grantedBy = r.granted(p, c)
		if now = p.grant; r.lostAlready(p) {
			p.stale, now = true, nil
		}
		p.unsure, p.upset, p.forgetful = false, false, false
		r.otherGranted(p)
	case p.op == lock.Acquire: // who is told no after it was told nothing has nothing, or has forgotten it
		p.forgetful = p.forgetful || p.unsure && res.Outcome == lock.Failed
		p.unsure = res.Outcome == lock.Unknown
	case p.op == lock.Release || p.op == lock.Verify && res.Outcome == lock.Done && !res.Held:
		p.held, p.grant = 0, nil
	}
	p.givesUp(res)
	r.stranded(p, res)
	r.neverMade(p, res)
	r.refusedFirst(p, res)
	r.snatched(p, res)
	r.record.complete(r, c, res)
	r.bill(c, res)
	res.Slot = min(res.Slot, monitor.Slots)
	r.monitor.End(c, res, p.held, now != nil && r.has(now))
	r.settles(p, res.Outcome)
	if l := r.lockOf(c); p.op.Administrative() && res.Outcome == lock.Done && r.unsettled[l] != 0 {
		r.unsettled[l] = 0
		r.changed(0)
	}
}

// mayMiss reports whether an acquire may get nothing of what seems to be free: by other designs than the guidelines', a lock may be
// gone before what it is held by is, and somebody may be about to have a slot for which there is no message yet.
func (r *run) mayMiss(p *clientState) bool {
	gone := p.since[lock.Destroy] || r.leftBy(p, lock.Destroy)
	return !r.design.Guided() && (gone || r.design.Bare && (p.contested || r.inTheWay(p)))
}

// settles takes in how an administrative operation has ended: what one leaves that did not end well, the next one goes on from.
func (r *run) settles(p *clientState, how lock.Outcome) {
	l := r.lockOf(p.id)
	switch {
	case !p.op.Administrative():
	case how == lock.Unknown:
		r.unended[l] |= 1 << p.op
	case how == lock.Done:
		r.unended[l] = 0
	}
}

// leftBy reports whether the lock of a client may be as one of some operations has left it that did not end well.
func (r *run) leftBy(p *clientState, ops ...lock.Op) bool {
	return slices.ContainsFunc(ops, func(op lock.Op) bool { return r.unended[r.lockOf(p.id)]&(1<<op) != 0 })
}

// lostAlready reports whether what a client says it was granted went, before that, with a channel on which no answer has told it of its end.
func (r *run) lostAlready(p *clientState) bool {
	l := r.lockOf(p.id)
	t := &r.truth[l]
	had := r.design.Channels() && p.untold.connection != nil && p.untoldOf&(1<<p.held) != 0
	return had && (t.Taken&(1<<p.held) == 0 || t.Owner[p.held] != p.id)
}

// granted is the connection that has what a client was just told that it holds, or had it last, and by which channel.
func (r *run) granted(p *clientState, c uint8) (*connection, uint16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	owner := p.current
	if !r.design.Known() {
		return owner, 0
	}
	if o := r.owners[r.sc.Clients[c-1].Lock][p.held]; o.connection != nil && o.connection.client == p.clientHandle {
		return o.connection, o.channel
	}
	return owner, 0
}

// bill adds up what an operation took, unless a fault broke its connection or channel.
func (r *run) bill(c uint8, res lock.Result) {
	p := &r.clients[c-1]
	cost, lost, broken := r.monitor.Spent(c)
	if r.config.Costs == nil || p.needless || r.burst == 0 || broken || res.Outcome == lock.Unknown || p.troubled || p.denied || cost.Connections > 0 {
		return
	}
	r.config.Costs.Add(p.op, res, lost, [monitor.Measures]int{
		int(cost.Commands), int(cost.Trips), int(cost.Replies), int(cost.Channels), int(cost.Connections),
	})
	if !r.shared {
		after := p.server.Counts()
		r.traffic.Add(p.op, &p.before, &after)
	}
}

// audit looks for what is left behind once nobody has anything left to do.
func (r *run) audit() {
	if !r.design.Known() {
		return
	}
	r.auditChannels()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broker.Observe(func(v wire.State) {
		for q := 1; q < len(r.names.roles); q++ {
			if detail := r.leftover(v, amqp.Queue(q)); detail != "" {
				r.monitor.Leftover(detail)
				return
			}
		}
	})
}

// mostSpare is how many channels or connections a client may have more than it had at first: it may keep some to use them again.
const mostSpare = 4

// auditChannels looks whether somebody has opened channels or connections again and again, and closed none. What a fault leaves of
// them is not looked at.
func (r *run) auditChannels() {
	if !r.record.plain() || r.Sharing() {
		return
	}
	for i := range r.clients {
		p, now := &r.clients[i], r.clients[i].baseline()
		for _, left := range []struct {
			what string
			more int
		}{{"channels", now.channels - p.keeps.channels}, {"connections", now.connections - p.keeps.connections}} {
			if left.more > mostSpare && 2*left.more >= p.acquires {
				r.monitor.Leftover(fmt.Sprintf("%s has %d %s more than at first: it has called acquire %d times", ClientName(int(p.id)), left.more, left.what, p.acquires))
			}
		}
	}
}

// leftover says what is wrong with a queue that is there, or "".
func (r *run) leftover(v wire.State, q amqp.Queue) string {
	m := r.names.mean(q)
	if !m.Known || !r.exists(v, q) {
		return ""
	}
	if r.design.Channels() {
		return r.surplus(v, q)
	}
	name := r.realName(q)
	messages, owner := v.Depth(name), v.Owner(name)
	if v.Passing(name) || r.design.Filled && m.Role == backend.Slot {
		messages = 0 // they do not pile up, or are there for something else
	}
	return m.Leftover(messages, owner != nil || r.monitor.Believed(m.Lock, m.Slot))
}

// event notes an occurrence that is no client's doing.
func (r *run) event(f history.F, process int32) {
	r.record.Add(history.Occurrence(f, process))
}

var _ scenario.World = (*run)(nil)
