package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// Ready implements [scenario.World].
func (r *run) Ready(c uint8) bool {
	p := &r.clients[c-1]
	if p.dead || p.wake > r.now || !r.turn(p) {
		return false
	}
	return p.first() != nil && (p.busy || !p.chatters()) || !p.busy && r.upcoming(p, c)
}

// mostUnasked is how many commands in a row pass of a client that nobody has called and that was sent nothing, while what the
// broker has of the locks stays as it is.
const mostUnasked = 8

// chatters reports whether a client goes on sending commands though nobody has called it: one that looks after what it holds every
// so often. What else it sends has to wait until it is called, so that the others come to go on.
func (a *clientHandle) chatters() bool { return a.unasked >= mostUnasked }

// atChange reports whether the next command of a client may change what the broker has of a lock. That of an operation that is still
// to be called may, but of one that only asks.
func (r *run) atChange(p *clientState) bool {
	cmd := p.first()
	if cmd == nil {
		ops := r.sc.Clients[p.id-1].Ops
		return p.next < len(ops) && ops[p.next].Op != lock.Verify && ops[p.next].Op != lock.Count
	}
	model := cmd.Model(func(string) amqp.Queue { return 0 })
	return r.mayChange(&model)
}

// atChanges reports whether faults happen to commands that may change something, not behind them: what is lost then, or late, is the reply.
func (r *run) atChanges() bool {
	return slices.ContainsFunc(r.sc.Faults, func(f scenario.Fault) bool {
		return f.Do == scenario.Lose || f.Do == scenario.CrashEffect || f.Do == scenario.Stall
	})
}

// SentBy implements [scenario.World]. Scenarios are drawn for locks that take a few commands an operation. Where locks
// are not held by queues, more of one operation do not count but as its end, and one without any counts: so faults come in
// all operations and between any two, however many commands they take.
func (r *run) SentBy(c uint8) uint16 {
	switch p := &r.clients[c-1]; {
	case r.sc.Deeper == scenario.EveryChange && p.changes > 0 && r.atChanges() && !r.atChange(p):
		return p.changes - 1
	case r.sc.Deeper == scenario.EveryChange:
		return p.changes
	case r.design.Holding == recognise.ByQueue || r.sc.Deeper == scenario.EveryCommand:
		return p.sent
	default:
		return p.weight
	}
}

// mayChange reports whether a command may change what the broker has of a lock. A message that looks for a slot's queue, as messages
// do where locks are held by queues, does not.
func (r *run) mayChange(cmd *amqp.Command) bool {
	switch cmd.Method {
	case amqp.QueueDeclare, amqp.ExchangeDeclare:
		return !cmd.Flags.Has(amqp.Passive)
	case amqp.BasicPublish:
		return r.design.Holding != recognise.ByQueue
	case amqp.BasicQos, amqp.TxSelect:
		return false
	}
	return asks(cmd.Method)
}

// mostCounted is how many commands of one operation count where locks are not held by queues.
const mostCounted = 3

// weighs reports whether the n-th command of an operation counts, from the second on.
func (r *run) weighs(n int) bool {
	n -= int(r.sc.Deeper)
	return n > 1 && n <= mostCounted
}

// Ways implements [scenario.World]: what a client draws by itself is its own business.
func (r *run) Ways(uint8) int { return 0 }

// Links implements [scenario.World]: what else a client does is its own business, too.
func (r *run) Links(uint8) uint8 { return 1 }

// Undetected implements [scenario.World].
func (r *run) Undetected() uint8 {
	if len(r.halfOpen) == 0 {
		return 0
	}
	return r.numberOf(r.halfOpen[0].client)
}

// Wake implements [scenario.World].
func (r *run) Wake() int64 {
	wake := int64(0)
	for i := range r.clients {
		p := &r.clients[i]
		if !p.dead && p.wake > r.now && (p.busy || r.upcoming(p, uint8(i+1))) && (wake == 0 || p.wake < wake) {
			wake = p.wake
		}
	}
	return max(0, wake-r.now)
}

// first is the client's first command at the gate, unless somebody else's has to pass before it.
func (a *clientHandle) first() *wire.Command {
	a.runner.mu.Lock()
	defer a.runner.mu.Unlock()
	if len(a.parked) == 0 || !a.parked[0].IsNext() {
		return nil
	}
	return a.parked[0]
}

// upcoming passes over operations that make no sense now and reports whether one is left.
func (r *run) upcoming(p *clientState, c uint8) bool {
	ops := r.sc.Clients[c-1].Ops
	for p.next < len(ops) && (!scenario.Sensible(ops[p.next].Op, p.held > 0) && !p.mayRelease(ops[p.next]) || r.pointless(p, ops[p.next])) {
		p.next++
	}
	return p.next < len(ops)
}

// pointless reports whether an operation would be a create of what is there, or may be, which leaves it as it is: then it is not
// known how many slots there should be. The same is so of an add beside a create. Two that create the same number at once both mean
// that.
func (r *run) pointless(p *clientState, op scenario.Operation) bool {
	if !r.leaves || p.busy || op.Op != lock.Create && op.Op != lock.Add {
		return false
	}
	l := r.lockOf(p.id)
	return op.Op == lock.Create && r.truth[l].Exists != 0 || slices.ContainsFunc(r.clients, func(o clientState) bool {
		if o.id == p.id || !o.busy || r.lockOf(o.id) != l {
			return false
		}
		if op.Op == lock.Create && o.op == lock.Create {
			return o.arg != op.Arg
		}
		return op.Op == lock.Create && o.op.Administrative() || o.op == lock.Create
	})
}

// mayRelease reports whether an operation is a release of what is not held, and is known to be that: after an acquire
// without an answer it is not.
func (p *clientState) mayRelease(op scenario.Operation) bool {
	return op.Op == lock.Release && op.Arg == scenario.Anyway && p.held == 0 && !p.unsure
}

// lockOf is which lock a client uses.
func (r *run) lockOf(c uint8) uint8 { return uint8(r.sc.Clients[c-1].Lock) }

// Can reports whether an action is possible now.
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
		return r.Ready(a.Client) && !p.waitsFor()
	case scenario.Arrive:
		return p.waitsFor() || !p.dead && len(r.untold(p)) > 0
	case scenario.CrashBefore, scenario.Pause:
		return !p.dead
	case scenario.Drop, scenario.ChannelError:
		return !p.dead && len(r.open(p)) > 0
	case scenario.Detect:
		return slices.ContainsFunc(r.halfOpen, func(l *connection) bool { return l.client == p.clientHandle })
	}
	return false
}

// pass lets virtual time pass.
func (r *run) pass(ms int64) {
	r.now += ms
	r.record.At(r.now)
	r.monitor.At(r.now)
	r.mu.Lock()
	r.overdue = r.overdue[:0]
	r.mu.Unlock()
	r.broker.Advance(ms)
	if r.acknowledgeLate() || r.record.timed {
		r.changed(0)
	}
	for i := range r.clients {
		if p := &r.clients[i]; p.paused && p.wake <= r.now {
			p.wakeUp()
		}
	}
}

// acknowledgeLate has clients lose the channels that the broker has closed just now because they had a message for longer than
// its consumer_timeout. It reports whether it has closed any.
func (r *run) acknowledgeLate() bool {
	r.mu.Lock()
	overdue := slices.Clone(r.overdue)
	r.mu.Unlock()
	for _, o := range overdue {
		r.channelGone(o.connection, o.channel)
		r.reads(o.connection, o.channel)
	}
	return len(overdue) > 0
}

func (a *clientHandle) wakeUp() {
	a.runner.mu.Lock()
	a.paused = false
	a.runner.mu.Unlock()
	if a.client != nil {
		a.client.Continue()
	}
}

// has reports whether the broker has a connection.
func (r *run) has(l *connection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.opened && !l.released
}

// open are a client's connections that the broker has and the client did not give up.
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

// invoke calls a client's next operation.
func (r *run) invoke(c uint8) {
	p := &r.clients[c-1]
	if p.busy || !r.upcoming(p, c) {
		return
	}
	op := r.sc.Clients[c-1].Ops[p.next]
	p.next++
	p.called++
	r.mu.Lock()
	linked := p.current != nil
	r.mu.Unlock()
	p.busy, p.refused, p.denied, p.vanished, p.claimed, p.withdrawn, p.op, p.arg = true, false, false, false, 0, 0, op.Op, op.Arg
	p.needless, p.stalledIn, p.ranOut = p.mayRelease(op), false, false
	p.troubled, p.cutOff, p.unaware = p.severed && (r.several || !linked) || p.unaware, false, false
	p.untold, p.asked = owner{}, r.now
	p.forsaken = op.Op == lock.Acquire && !linked && !r.remains(p) && p.deadEnds > max(1, p.keeps.connections) && !r.reconnects(p)
	p.counted, p.overtime, p.weight, p.owed = 0, 0, p.weight+1, p.broken
	p.shifted, p.tail, p.trailed = p.shifted && op.Op != lock.Acquire, nil, 0
	p.process = r.processOf(c, r.session(p, op.Op, linked))
	l := r.sc.Clients[c-1].Lock
	p.existed = r.truth[l].Exists &^ r.unsettled[l]
	r.tokens[l].Begin(op.Op)
	p.fence, p.token = r.tokens[l].Now(), 0
	params := Params{Name: r.place(r.sc.Locks[l].Name)}
	switch op.Op {
	case lock.Acquire:
		switch {
		case r.about.Limits:
			params.Limit = int(p.arg)
		case waits(op):
			params.Timeout, p.arg = waitTime, 0
		}
	case lock.Verify, lock.Release:
		p.arg = p.held
		params.Slot = int(p.said)
		if p.needless {
			params.Slot = int(max(1, p.said))
		}
	case lock.Wait:
		params.Slot = int(op.Arg)
	case lock.Create, lock.Add, lock.Remove:
		params.Slots = int(op.Arg)
	}
	if r.burst > 0 {
		p.before = p.server.Counts()
	}
	r.monitor.Begin(c, uint8(l), op.Op, p.arg, linked && r.bears(p) && params.Timeout == 0) // who waits may ask again and again
	r.meet(p)
	r.administered(p)
	if p.troubled || p.upset || p.stale && (op.Op == lock.Verify || op.Op == lock.Release) { // its process may have a new connection
		r.monitor.Lost(c)
	}
	switch op.Op {
	case lock.Acquire:
		p.acquires++
	case lock.Release:
		p.held = 0
	}
	r.record.invoke(r, c)
	if p.alone = 0; op.Op == lock.Acquire && r.unmade(p) {
		p.alone = len(r.record.Events)
	}
	p.call(op.Op, params)
}

// bears reports whether what an operation costs is the operation's: its client works on the connection that it worked on in the
// last one, and clients keep no others, which they may open when they please.
func (r *run) bears(p *clientState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shared || p.current != nil && p.current.session() == p.worked && !r.spareConnections
}

// meet notes that an operation that counts or changes the slots begins while others of them are under way: libraries may
// let one of them at a time, and fail the others. Whoever died in its midst may be in the way until the broker notices. By the
// guidelines' design those who use a lock are in nobody's way; by others' they may be.
func (r *run) meet(p *clientState) {
	guarded := func(op lock.Op) bool { return op == lock.Count || op.Administrative() }
	l := r.lockOf(p.id)
	p.met, p.contested = r.truth[l].Admin != 0, false
	for i := range r.clients {
		o := &r.clients[i]
		if o == p || !o.busy || r.lockOf(o.id) != l {
			continue
		}
		if o.op == lock.Acquire && p.op == lock.Acquire {
			o.contested, p.contested = true, true
		}
		if guarded(o.op) && guarded(p.op) || !r.design.Guided() {
			o.met, p.met = true, true
		}
	}
}

// administered notes who is about to acquire, or has acquired, a lock that an operation changes.
func (r *run) administered(p *clientState) {
	if p.op == lock.Acquire {
		p.since = make(map[lock.Op]bool)
	}
	for i := range r.clients {
		o := &r.clients[i]
		if r.lockOf(o.id) != r.lockOf(p.id) {
			continue
		}
		if p.op.Administrative() && o.since != nil {
			o.since[p.op] = true
		}
		if p.op == lock.Acquire && o.busy && o.op.Administrative() {
			p.since[o.op] = true
		}
	}
}

// replaced reports whether the slot that a client holds may have been taken away, and made again, since it began to acquire it.
func (p *clientState) replaced() bool {
	return (p.since[lock.Remove] || p.since[lock.Destroy]) && (p.since[lock.Create] || p.since[lock.Add])
}

// session is the number, among a client's connections, of the one that its next operation goes by, or is to open. A release
// is about what it was granted: it goes by the connection that had that, though it was lost and what else the client's
// process did has opened another since.
func (r *run) session(p *clientState, op lock.Op, linked bool) int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch l := p.grant; {
	case op == lock.Release && p.held > 0 && l != nil && l.released && !r.shared:
		return l.session()
	case !linked && p.incarnation > 0:
		return p.incarnation + 1
	}
	return max(1, p.incarnation)
}

// processOf is the number by which a history knows one connection of a client.
func (r *run) processOf(c uint8, incarnation int32) int32 {
	return history.Process(int32(c), incarnation, len(r.sc.Clients))
}
