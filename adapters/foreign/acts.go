package foreign

import (
	"errors"
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// Ready implements [scenario.World].
func (r *run) Ready(c uint8) bool {
	p := &r.players[c-1]
	if p.dead || p.wake > r.now {
		return false
	}
	return p.first() != nil || !p.busy && r.upcoming(p, c)
}

// SentBy implements [scenario.World].
func (r *run) SentBy(c uint8) uint16 { return r.players[c-1].sent }

// Ways implements [scenario.World]: what a client draws by itself is its own business.
func (r *run) Ways(uint8) int { return 0 }

// Undetected implements [scenario.World].
func (r *run) Undetected() uint8 {
	if len(r.ghosts) == 0 {
		return 0
	}
	return uint8(r.ghosts[0].actor.number)
}

// Wake implements [scenario.World].
func (r *run) Wake() int64 {
	wake := int64(0)
	for i := range r.players {
		p := &r.players[i]
		if !p.dead && p.wake > r.now && (p.busy || r.upcoming(p, uint8(i+1))) && (wake == 0 || p.wake < wake) {
			wake = p.wake
		}
	}
	return max(0, wake-r.now)
}

// first is the client's first command at the gate, unless somebody else's has to pass before it.
func (a *actor) first() *wire.Command {
	a.stage.mu.Lock()
	defer a.stage.mu.Unlock()
	if len(a.parked) == 0 || !a.parked[0].Foremost() {
		return nil
	}
	return a.parked[0]
}

// upcoming passes over operations that make no sense now and reports whether one is left.
func (r *run) upcoming(p *player, c uint8) bool {
	ops := r.sc.Clients[c-1].Ops
	for ; p.next < len(ops); p.next++ {
		if scenario.Sensible(ops[p.next].Op, p.held > 0) {
			return true
		}
	}
	return false
}

// Can reports whether an action is possible now.
func (r *run) Can(a scenario.Action) bool {
	if !r.playable(a.Do) {
		return false
	}
	if a.Do == scenario.Restart || a.Do == scenario.Advance {
		return a.Client == 0
	}
	if a.Client == 0 || int(a.Client) > len(r.players) {
		return false
	}
	p := &r.players[a.Client-1]
	switch a.Do {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		return r.Ready(a.Client)
	case scenario.CrashBefore, scenario.Pause:
		return !p.dead
	case scenario.Drop, scenario.ChannelError:
		return !p.dead && len(r.open(p)) > 0
	case scenario.Detect:
		return slices.ContainsFunc(r.ghosts, func(l *link) bool { return l.actor == p.actor })
	}
	return false
}

// do carries out one action, which must be possible. As in package sim, every action takes a virtual
// millisecond.
func (r *run) do(a scenario.Action) error {
	r.record.begin(a, r.now+1)
	r.pass(1)
	c := a.Client
	var err error
	switch a.Do {
	case scenario.Step, scenario.CrashEffect, scenario.CrashReply, scenario.Lose:
		err = r.takeStep(c, a.Do, a.Late)
	case scenario.CrashBefore:
		r.crash(c, a.Late)
	case scenario.Pause:
		r.pause(c, int64(a.Arg))
	case scenario.Drop:
		r.drop(c)
	case scenario.ChannelError:
		r.breakChannel(c)
	case scenario.Detect:
		r.detect(c)
	case scenario.Advance:
		r.pass(int64(a.Arg))
	case scenario.Restart:
		r.restart()
	}
	if err == nil {
		err = r.settle()
	}
	r.finish()
	return err
}

// pass lets virtual time pass.
func (r *run) pass(ms int64) {
	r.now += ms
	r.monitor.At(r.now)
	r.broker.Advance(ms)
	if r.record.timed {
		r.changed(0)
	}
	for i := range r.players {
		if p := &r.players[i]; p.paused && p.wake <= r.now {
			p.wakeUp()
		}
	}
}

func (a *actor) wakeUp() {
	a.stage.mu.Lock()
	a.paused = false
	a.stage.mu.Unlock()
	if a.client != nil {
		a.client.Continue()
	}
}

// pause stops a client for a while. One that can't be stopped stands still at the gate alone.
func (r *run) pause(c uint8, ms int64) {
	p := &r.players[c-1]
	p.wake = r.now + ms
	r.event(spec.Pause, p.process)
	if err := p.client.Pause(); err != nil {
		r.unruled.Unpaused++
		return
	}
	r.mu.Lock()
	p.paused = true
	r.mu.Unlock()
}

// takeStep has the client's next command reach the broker, and calls its next operation first where none
// is under way. How much of that the client lives to see is the action's.
func (r *run) takeStep(c uint8, do scenario.Do, late bool) error {
	p := &r.players[c-1]
	if p.first() == nil {
		r.invoke(c)
		if err := r.settle(); err != nil {
			return err
		}
	}
	cmd := p.first()
	if cmd == nil { // it needed none
		return nil
	}
	if r.burst > 0 {
		if _, err := r.wait(r.ctx, r.burst, func() bool { return !p.brisk() }); err != nil {
			return err
		}
	}
	if !p.busy {
		r.unruled.Idle++
	}
	l := r.deliver(c, cmd, do == scenario.CrashEffect || do == scenario.Lose)
	switch do {
	case scenario.CrashEffect:
		r.crash(c, late)
	case scenario.Lose:
		r.loseReply(c, l, late)
	case scenario.CrashReply:
		if err := r.settle(); err != nil {
			return err
		}
		r.crash(c, late)
	}
	return nil
}

// deliver has a command pass, and tells the monitor what it came to. deaf says that the answer is lost.
func (r *run) deliver(c uint8, cmd *wire.Command, deaf bool) *link {
	p := &r.players[c-1]
	p.sent++
	r.mu.Lock()
	l := r.links[cmd.Conn]
	p.parked = p.parked[1:]
	known := l.knows(cmd.Channel)
	released, broken := l.released, l.broken != 0 && l.broken == cmd.Channel
	if id := cmd.Method.ID(); broken && (id == frame.ChannelOpenID || id == frame.ChannelCloseID) { // it is closed as it is
		l.broken, broken = 0, false
	}
	if r.shared {
		p.current = l
	}
	if !released {
		l.deaf = deaf
		if l.opened && cmd.Channel == 0 && p.current != l && p.current != nil && !p.current.cut {
			r.unruled.Connections++
		}
		l.passing(cmd)
	}
	if cmd.Pipelined && !r.shared { // what others have sent on the connection says nothing
		r.unruled.Pipelined++
	}
	r.step = exchange{command: cmd}
	r.mu.Unlock()
	model := r.model(cmd, known)
	switch {
	case released: // the client sees now that the broker is gone
		cmd.Discard()
		r.cutOff(l)
		r.record.exchange(cmd, model, amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced})
		return l
	case broken:
		l.broken = 0
		cmd.Discard()
		r.broker.CloseChannel(cmd.Conn, cmd.Channel, softError)
	default:
		cmd.Pass()
	}
	reply := r.replied(cmd)
	if broken { // what the rest of us calls an error of the broker's own
		reply.Code = amqp.InternalError
	}
	r.record.exchange(cmd, model, reply)
	r.told(c, l, cmd, model, reply)
	return l
}

// softError is what a client is told that closes a channel and nothing more, to all drivers.
const softError = amqp.PreconditionFailed

// replied is what a command was answered. The simulated broker answers before a command has passed, but
// somebody else may be showing its answers to the gate just then.
func (r *run) replied(cmd *wire.Command) amqp.Reply {
	if cmd.Replies {
		r.wait(r.ctx, r.config.Patience, func() bool { return r.step.answered })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := r.step.reply
	r.step = exchange{}
	return reply
}

// knows is the number of a channel in traces: channels count from 1, in the order in which they are used.
func (l *link) knows(channel uint16) uint16 {
	if channel == 0 || l == nil { // a connection that is gone is nobody's
		return channel
	}
	i := slices.Index(l.channels, channel)
	if i < 0 {
		i = len(l.channels)
		l.channels = append(l.channels, channel)
	}
	return uint16(i + 1)
}

// cutOff closes the client's side of a connection that the broker does not have any more.
func (r *run) cutOff(l *link) {
	r.mu.Lock()
	l.cut = true
	r.leave(l)
	l.actor.shaken = true
	r.Stage.discard(func(c *wire.Command) bool { return c.Conn == l.conn })
	r.mu.Unlock()
	l.conn.Cut()
	r.gone(l)
}

// gone waits until the socket is closed, so that the client sees that before anything else happens.
func (r *run) gone(l *link) {
	r.wait(r.ctx, r.config.Patience, func() bool { return l.hungUp })
}

// loseReply is a reply that never arrives: the connection breaks on its way.
func (r *run) loseReply(c uint8, l *link, late bool) {
	r.monitor.Lost(c)
	r.players[c-1].troubled, r.players[c-1].stale = true, true
	if r.has(l) {
		if late {
			r.haunt(l)
		} else {
			r.lose(l, c, true)
		}
	}
	r.cutOff(l)
}

// haunt has the broker keep a connection that its client has given up.
func (r *run) haunt(l *link) {
	r.mu.Lock()
	l.ghost = true
	r.mu.Unlock()
	r.ghosts = append(r.ghosts, l)
	r.changed(0)
}

// lose is the broker seeing the end of a connection; own says that it is the client's own doing.
func (r *run) lose(l *link, c uint8, own bool) {
	r.mu.Lock()
	l.released, l.ghost = true, false
	r.mu.Unlock()
	l.conn.Release()
	for i := range r.players {
		if p := &r.players[i]; p.number == int(c) {
			r.bereave(p, l, l.process, own)
		} else if r.shared && p.current == l {
			r.bereave(p, l, p.process, false)
		}
	}
}

// bereave is a client losing a connection, which histories know as a process of its.
func (r *run) bereave(p *player, l *link, process int32, own bool) {
	c := uint8(p.number)
	r.mu.Lock()
	granted := p.grant == l || p.grant == nil && (p.current == nil || p.current == l)
	r.mu.Unlock()
	if !own {
		p.troubled, p.stale = true, p.stale || p.held > 0 && granted
	}
	r.monitor.Gone(c, granted, own)
	r.event(spec.Gone, process)
	r.changed(0)
	r.monitor.Freed(c)
}

// has reports whether the broker has a connection.
func (r *run) has(l *link) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.opened && !l.released
}

// open are a client's connections that the broker has and the client did not give up.
func (r *run) open(p *player) (open []*link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range p.links {
		if l.opened && !l.released && !l.ghost {
			open = append(open, l)
		}
	}
	return open
}

// crash kills a client.
func (r *run) crash(c uint8, late bool) {
	p := &r.players[c-1]
	if p.dead {
		return
	}
	process := r.processOf(c, max(1, p.incarnation))
	if p.busy {
		process = p.process
	}
	open := r.open(p)
	p.dead, p.busy = true, false
	if err := p.kill(); err != nil {
		r.record.trouble = errors.Join(r.record.trouble, err)
	}
	r.event(spec.Crash, process)
	r.monitor.Crash(c)
	for _, l := range open {
		if late {
			r.haunt(l)
		} else {
			r.lose(l, c, true)
		}
	}
}

// drop has the broker drop a client's connections. The client does not know yet.
func (r *run) drop(c uint8) {
	p := &r.players[c-1]
	p.shaken = true
	for _, l := range r.open(p) {
		r.lose(l, c, false)
	}
}

// breakChannel has the broker close a channel of the client's, which finds out when it next uses it: the
// one that its first command at the gate is on, or else the one that it opened last.
func (r *run) breakChannel(c uint8) {
	p := &r.players[c-1]
	cmd := p.first()
	r.mu.Lock()
	defer r.mu.Unlock()
	p.shaken = true
	l := p.current
	if cmd != nil {
		l = r.links[cmd.Conn]
	}
	switch {
	case l == nil:
	case cmd != nil && cmd.Channel > 0:
		l.broken = cmd.Channel
	case len(l.channels) > 0:
		l.broken = l.channels[len(l.channels)-1]
	}
}

// detect has the broker notice that the client's dead connections are dead.
func (r *run) detect(c uint8) {
	p := &r.players[c-1]
	var rest []*link
	for _, l := range r.ghosts {
		if l.actor != p.actor {
			rest = append(rest, l)
			continue
		}
		r.lose(l, c, true)
		r.mu.Lock()
		if l.hungUp {
			l.actor.forget(l)
		}
		r.mu.Unlock()
	}
	r.ghosts = rest
}

// restart stops the broker and starts it again: connections end, and with them exclusive queues.
func (r *run) restart() {
	r.mu.Lock()
	var all []*link
	for i := range r.players {
		p := &r.players[i]
		p.shaken, p.troubled, p.stale = true, true, p.held > 0
		for _, l := range p.links {
			if !l.released {
				l.released, l.ghost = true, false
				all = append(all, l)
			}
		}
	}
	r.mu.Unlock()
	for _, l := range all {
		l.conn.Release()
	}
	r.ghosts = nil
	r.cutIdle()
	r.broker.Restart()
	r.event(spec.Restart, spec.Nemesis)
	r.survey()
	for l := range r.sc.Locks {
		r.monitor.Restarted(uint8(l), &r.truth[l])
	}
	for i := range r.players {
		r.monitor.Freed(uint8(i + 1))
	}
}

// cutIdle cuts the connections of those who don't play. They may not look at them for long, and would not
// answer if they were told.
func (r *run) cutIdle() {
	var cut []*link
	r.mu.Lock()
	for _, a := range r.actors {
		if a.number > 0 && a.number <= len(r.players) {
			continue
		}
		a.shaken = true
		for _, l := range a.links {
			l.cut, l.released = true, true
			r.leave(l)
			cut = append(cut, l)
		}
	}
	r.mu.Unlock()
	for _, l := range cut {
		l.conn.Release()
		l.conn.Cut()
	}
}

// invoke calls a client's next operation.
func (r *run) invoke(c uint8) {
	p := &r.players[c-1]
	if p.busy || !r.upcoming(p, c) {
		return
	}
	op := r.sc.Clients[c-1].Ops[p.next]
	p.next++
	p.called++
	r.mu.Lock()
	linked := p.current != nil
	r.mu.Unlock()
	p.busy, p.troubled, p.refused, p.claimed, p.withdrawn, p.op, p.arg = true, false, false, 0, 0, op.Op, op.Arg
	p.process = r.processOf(c, max(1, p.incarnation))
	if !linked && p.incarnation > 0 {
		p.process = r.processOf(c, p.incarnation+1)
	}
	l := r.sc.Clients[c-1].Lock
	params := Params{Name: r.place(r.sc.Locks[l].Name)}
	switch op.Op {
	case lock.Verify, lock.Release:
		p.arg = p.held
		params.Slot = int(p.held)
	case lock.Wait:
		params.Slot = int(op.Arg)
	case lock.Create, lock.Add, lock.Remove:
		params.Slots = int(op.Arg)
	}
	if r.burst > 0 {
		p.before = p.server.Counts()
	}
	r.monitor.Begin(c, uint8(l), op.Op, p.arg, linked)
	if op.Op == lock.Release {
		p.held = 0
	}
	r.record.invoke(r, c)
	p.call(op.Op, params)
}

// processOf is the number by which a history knows one connection of a client.
func (r *run) processOf(c uint8, incarnation int32) int32 {
	return int32(c) + (incarnation-1)*int32(len(r.sc.Clients))
}
