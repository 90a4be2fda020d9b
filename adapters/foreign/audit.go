package foreign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// When a scenario is over, its locks are audited at rest: faults have ended, every operation has, the broker has noticed what is
// dead. Then one client after the other is at work, and no other:
//
//  1. Fresh clients acquire what they can get while others believe to hold the lock. Those verify it, and all give it back. If it
//     has leases, a fresh client acquires it then, and gives it back. A client that cannot know whether it holds anything is ended.
//  2. Time passes, so that everything that expires has expired.
//  3. Fresh clients acquire: each free slot is granted, and the next acquire is refused. They count, and give all back.
//  4. Each survivor acquires once, and gives it back. An administrator adds a slot and takes it away.
//  5. Fresh clients acquire all again and give it back, and the broker has no more than before.
//
// Each of these is an operation like any other, in the history and in the trace. The judge of certain holds finds a slot
// that is granted too often then. A refusal is reported here, named by what has happened before. Nothing that happened
// before excuses it.

const (
	// mostAuditors is how many clients audit, at most: one for each slot, and one that is refused.
	mostAuditors = lock.MaxSlots + 3
	// attempts is how often a client may try before its request counts as refused. The client may have to see first that it
	// has lost its connection, or a former attempt may have to be undone.
	attempts = 4
	// restTime is how many virtual milliseconds pass at rest, at least, so that everything that expires has expired.
	// RabbitMQ takes back an unacknowledged message after half an hour (consumer_timeout), and that would hide that the
	// message was lost: restTime is less.
	restTime = 25 * 60 * 1000
	// fewSlots is up to how many slots a lock is taken to have room for another.
	fewSlots = 6
	// betweenAttempts is how many pass between two attempts.
	betweenAttempts = 60 * 1000
	// leastLenience is how long is waited, at least, for an operation that a scenario has left in its midst.
	leastLenience = 50 * time.Millisecond
)

// end brings everything to rest, audits the locks if all that was to be done was done, and tidies up.
func (r *run) end(over bool) error {
	clean := over && !r.befell.faulty() && r.done()
	if err := r.rest(); err != nil {
		return err
	}
	if over && r.disagrees() == "" && !r.seen() {
		if err := r.audit(); err != nil {
			return err
		}
		r.audited = true
	}
	r.openGate(true) // what follows is no part of the execution
	if err := r.releaseAll(); err != nil {
		return err
	}
	clean = clean && r.record.plain()
	destroyed, err := r.destroyAll()
	if err != nil {
		return err
	}
	return r.sweep(clean && destroyed)
}

// disagrees is how a real broker did something else than the simulated one.
func (r *run) disagrees() string { return r.server.Disagreement() }

// rest ends faults and operations: whoever was paused goes on, replies arrive, connections are cut that the broker has dropped,
// and the broker notices what is dead.
func (r *run) rest() error {
	r.record.Begin(scenario.Action{Kind: scenario.Audit})
	r.auditing = true
	r.resolve()
	for i := range r.clients {
		r.arrive(r.clients[i].clientHandle)
	}
	r.release()
	for _, c := range r.disconnected {
		c.Release()
	}
	if err := r.finishCalls(); err != nil {
		return err
	}
	if !r.about.Leases { // those are not over
		r.event(history.Audit, 0)
	}
	r.endStep()
	return nil
}

// resolve lets clients know of what they don't yet.
func (r *run) resolve() {
	for _, l := range r.halfOpen {
		l.conn.Release()
		r.mu.Lock()
		l.halfOpen, l.released = false, true
		r.mu.Unlock()
		if c := r.numberOf(l.client); c > 0 {
			r.event(history.Gone, c)
		}
	}
	r.halfOpen = nil
	for i := range r.clients {
		p := &r.clients[i]
		p.dirty = p.dirty || p.dead
		if p.paused {
			p.wakeUp()
		}
		r.mu.Lock()
		for _, l := range slices.Clone(p.connections) {
			if l.released && l.opened {
				r.replace(l)
			}
			l.conn.Mend()
		}
		r.mu.Unlock()
	}
}

// replace cuts a connection, unless that was done, so that its client has to open another. mu is held.
func (r *run) replace(l *connection) {
	if !l.cut {
		l.cut, l.client.dirty, l.client.harmed = true, true, true
		r.leave(l)
		l.conn.Cut()
	}
}

// release lets go of connections whose clients have hung up, those of clients among them who don't play.
func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.everybody() {
		for _, l := range slices.Clone(a.connections) {
			if l.hungUp {
				l.released = true
				a.forget(l)
				r.disconnected = append(r.disconnected, l.conn)
			}
		}
	}
}

// finishCalls waits for operations that the scenario left in their midst. A client that does not come to an end is ended: in an
// execution without faults, that is one operation too many that nobody else holds up.
func (r *run) finishCalls() error {
	for i := range r.clients {
		p := &r.clients[i]
		over, err := r.goOn(r.lenience, func() bool { return !p.busy })
		if err != nil {
			return err
		}
		if !over {
			r.lenience = max(r.lenience/2, leastLenience) // others like it may come
			r.uncontrolled.Hung++
			r.crash(p.id, false)
		}
	}
	return nil
}

// goOn has what is under way go on, a command at a time, each a step of its own, until something is so and nothing waits at the gate.
// It is false where that takes longer than it may.
func (r *run) goOn(limit time.Duration, over func() bool) (bool, error) {
	for began := time.Now(); ; {
		if err := r.settle(); err != nil {
			return false, err
		}
		c := r.waiting()
		switch {
		case c == 0 && over():
			return true, nil
		case time.Since(began) > limit:
			return false, nil
		case c == 0 && r.timed():
			if !r.nextComes() {
				return false, nil
			}
			continue
		case c == 0:
			came, err := r.comesBy(limit - time.Since(began))
			if err != nil || !came {
				return false, err
			}
			continue
		}
		if now := &r.record.Step; now.Action.Client != c || now.Command != "" { // else it begins an operation
			r.endStep()
			r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: c})
		}
		r.deliver(c, r.clients[c-1].first(), false)
	}
}

// comesBy waits for a client that computes, waits by a clock of its own, or is kept waiting by the server, whose time passes for it then.
// It is false where nothing comes.
func (r *run) comesBy(limit time.Duration) (bool, error) {
	if came, err := r.wait(r.ctx, min(lull, limit), r.comes); came || err != nil {
		return came, err
	}
	if r.outlastBlocked() {
		return true, nil
	}
	return r.wait(r.ctx, limit, r.comes)
}

// waiting is a client of which a command waits at the gate, 0 for none: they take turns. One that goes on sending though nobody
// calls it is no reason to go on.
func (r *run) waiting() uint8 {
	for range r.clients {
		r.last = r.last%uint8(len(r.clients)) + 1
		if p := &r.clients[r.last-1]; p.first() != nil && (p.busy || !p.chatters()) {
			return r.last
		}
	}
	return 0
}

// comes reports whether something has come from a client. mu is held.
func (r *run) comes() bool {
	for i := range r.clients {
		if p := &r.clients[i]; len(p.parked) > 0 || p.answer != nil {
			return true
		}
	}
	return false
}

// audit audits each lock of the scenario.
func (r *run) audit() error {
	if err := r.hears(); err != nil {
		return err
	}
	if err := r.giveBack(); err != nil {
		return err
	}
	if err := r.idles(); err != nil {
		return err
	}
	if r.about.Leases {
		r.event(history.Audit, 0)
	}
	for l := range r.sc.Locks {
		if err := r.auditLock(uint8(l)); err != nil {
			return err
		}
	}
	return nil
}

// elapse lets virtual milliseconds pass, if the server's time is ours. What clients do meanwhile by themselves, they get to do.
func (r *run) elapse(ms int64) error {
	for r.server.Ours() && ms > 0 {
		step := earlier(ms, milliseconds(r.nextTimer(anybody)))
		r.passOn(step)
		if ms -= step; ms == 0 {
			break
		}
		if _, err := r.goOn(r.lenience, func() bool { return true }); err != nil {
			return err
		}
	}
	for i := range r.clients {
		p := &r.clients[i]
		p.restless = p.restless || p.unasked > 0 && p.held == 0
	}
	return nil
}

// idles lets time pass at rest, so that everything that expires has expired. Clients that go on doing something by themselves are
// watched for twice a lease, where their time is ours: they may go on for ever.
func (r *run) idles() error {
	ms := max(restTime, r.longestExpiry())
	if watched := max(2*LeaseTime.Milliseconds(), r.longestExpiry()); r.about.Leases && r.timed() && watched < ms {
		if err := r.elapse(watched); err != nil || r.nextTimer(anybody) > 0 {
			return err
		}
		ms -= watched
	}
	return r.elapse(ms)
}

// longestExpiry is after how many virtual milliseconds everything has expired for which what is there announces a time.
func (r *run) longestExpiry() (ms int64) {
	for _, item := range r.server.Items() {
		ms = max(ms, 2*item.Lasts)
	}
	return ms
}

// giveBack has whoever believes to hold a lock verify that while others have what they can get of it, and has all give it back. What
// nobody holds then should be free, also if a lease has not ended.
func (r *run) giveBack() error {
	for l := range r.sc.Locks {
		believers := r.believers(uint8(l))
		if len(believers) == 0 {
			continue
		}
		if err := r.challenge(uint8(l)); err != nil {
			return err
		}
		for _, p := range believers {
			if err := r.affirm(p, uint8(l)); err != nil {
				return err
			}
		}
		if err := r.releases(uint8(l)); err != nil {
			return err
		}
	}
	for l := range r.sc.Locks {
		if err := r.freesAtOnce(uint8(l)); err != nil {
			return err
		}
	}
	return r.endUnsure()
}

// affirm has a client that believes to hold a lock verify that, and extend it. An extension of a lease that is over is one of what
// others have by now.
func (r *run) affirm(p *clientState, l uint8) error {
	for _, op := range []lock.Op{lock.Verify, lock.Refresh} {
		if !r.supports(op) || !scenario.Sensible(op, p.held > 0) {
			continue
		}
		if _, err := r.asks(p, l, op); err != nil {
			return err
		}
	}
	return nil
}

// endUnsure ends the clients that cannot know whether they hold something: what they have must come free then.
func (r *run) endUnsure() error {
	for i := range r.sc.Clients {
		p := &r.clients[i]
		if p.dead || !p.unsure {
			continue
		}
		r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: p.id})
		r.crash(p.id, false)
		r.endStep()
		if _, err := r.wait(r.ctx, r.config.Patience, p.hasHungUp); err != nil {
			return err
		}
	}
	return nil
}

// hasHungUp reports whether all sockets of a client are closed. mu is held.
func (a *clientHandle) hasHungUp() bool {
	return !slices.ContainsFunc(a.connections, func(l *connection) bool { return !l.hungUp })
}

// believers are the clients that believe to hold a lock.
func (r *run) believers(l uint8) (all []*clientState) {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && p.client != nil && p.held > 0 && p.lock == l {
			all = append(all, p)
		}
	}
	return all
}

// challenge has fresh clients acquire what they can get of a lock that others believe to hold.
func (r *run) challenge(l uint8) error {
	_, most := r.slots(l)
	for k := 0; k <= most; k++ {
		p, err := r.auditor(k)
		if err != nil {
			return err
		}
		if held, err := r.obtains(p, l, 1); err != nil || !held {
			return err
		}
	}
	return nil
}

// releases has whoever believes to hold a lock give it back.
func (r *run) releases(l uint8) error {
	for _, p := range r.believers(l) {
		if _, err := r.asks(p, l, lock.Release); err != nil {
			return err
		}
	}
	return nil
}

// auditLock audits one lock, and nobody else is at work on any.
func (r *run) auditLock(l uint8) error {
	least, most := r.slots(l)
	full, err := r.fill(l, least, most)
	if err != nil || !full {
		return err
	}
	if err := r.survive(l, least); err != nil {
		return err
	}
	if err := r.administer(l, least, most); err != nil {
		return err
	}
	before := r.inventory()
	if full, err = r.fill(l, least, most); err != nil || !full {
		return err
	}
	r.grown(l, before)
	return nil
}

// slots is how many slots a lock has by what was administered, at least and at most.
func (r *run) slots(l uint8) (least, most int) {
	switch {
	case r.about.Slotless():
		n := r.limit(l)
		return n, n
	}
	all := make([]int, len(r.sc.Locks))
	all[l] = int(r.sc.Locks[l].Slots)
	return beliefs.SlotsIn(&history.History{Kind: r.config.Kind, Slots: all, Events: r.record.Events}, uint16(l))
}

// fill has fresh clients acquire all slots of a lock, one more be refused, and then give all back. It is false where a slot was
// refused, or something is wrong with what was granted.
func (r *run) fill(l uint8, least, most int) (full bool, err error) {
	defer func() { err = errors.Join(err, r.releases(l)) }()
	held, err := r.takeAll(l, least, most)
	if err != nil || held < least || held > most { // beliefs.Audit says so, or the judge of certain holds
		return false, err
	}
	if held > 0 {
		if err := r.counted(l); err != nil {
			return false, err
		}
	}
	return true, r.apart(l, least, most)
}

// takeAll has fresh clients acquire slots of a lock, one after the other, until one is refused.
func (r *run) takeAll(l uint8, least, most int) (held int, err error) {
	for held <= most {
		p, err := r.auditor(held)
		if err != nil {
			return held, err
		}
		tries := attempts
		if held >= least { // it may be refused
			tries = 1
		}
		granted, err := r.obtains(p, l, tries)
		if err != nil || !granted {
			return held, err
		}
		held++
	}
	return held, nil
}

// apart has a client acquire each other lock while one is full: their names may be alike, but they are not.
func (r *run) apart(l uint8, least, most int) error {
	for o := range r.sc.Locks {
		if slots, _ := r.slots(uint8(o)); o == int(l) || slots == 0 {
			continue
		}
		p, err := r.auditor(most + 1)
		if err != nil {
			return err
		}
		beside, err := r.obtains(p, uint8(o), 1)
		if err == nil && !beside {
			beside, err = r.separate(p, l, uint8(o), least, most)
		}
		if err != nil {
			return err
		}
		r.exercised = r.exercised.With(property.NameSafety)
		if !beside {
			r.accuse(property.NameSafety, p.id, uint8(o), fmt.Sprintf("at rest, lock %s is refused while lock %s is full, and granted when that is released",
				r.sc.Locks[o].Name, r.sc.Locks[l].Name))
		}
		if err := r.releases(uint8(o)); err != nil {
			return err
		}
	}
	return nil
}

// separate reports whether lock o does not depend on lock l, which is full, though a client was refused it. It depends on l if
// it is granted as soon as l is released, and refused in each attempt when l is full again.
func (r *run) separate(p *clientState, l, o uint8, least, most int) (bool, error) {
	if err := r.releases(l); err != nil {
		return false, err
	}
	if alone, err := r.obtains(p, o, 1); err != nil || !alone {
		return true, err
	}
	if err := r.releases(o); err != nil {
		return false, err
	}
	if held, err := r.takeAll(l, least, most); err != nil || held < least || held > most {
		return true, err
	}
	return r.obtains(p, o, attempts)
}

// counted has a client count the slots of a lock that others hold all of.
func (r *run) counted(l uint8) error {
	if !r.supports(lock.Count) {
		return nil
	}
	p, err := r.auditor(0)
	if err == nil {
		_, err = r.asks(p, l, lock.Count)
	}
	return err
}

// survive has every survivor acquire a lock once, and give it back.
func (r *run) survive(l uint8, least int) error {
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || p.client == nil || i >= len(r.sc.Clients) || r.lockOf(p.id) != l || least == 0 {
			continue
		}
		if held, err := r.obtains(p, l, attempts); err != nil || !held {
			return err
		}
		if _, err := r.asks(p, l, lock.Release); err != nil {
			return err
		}
	}
	return nil
}

// administer has a fresh client add a slot to a lock that nobody uses, and take it away again.
func (r *run) administer(l uint8, least, most int) error {
	if r.config.Kind != lock.Semaphore || least != most || least == 0 || least > fewSlots || !r.supports(lock.Add) || !r.supports(lock.Remove) {
		return nil
	}
	p, err := r.auditor(0)
	if err != nil {
		return err
	}
	for _, op := range []lock.Op{lock.Add, lock.Remove} {
		res, err := r.asksOf(p, l, scenario.Operation{Op: op, Arg: 1})
		if err != nil || p.dead || res.Outcome == lock.Unknown {
			return err
		}
		if res.Outcome == lock.Failed {
			r.accuse(property.Progress, p.id, l, fmt.Sprintf("at rest, %s, a fresh client, is refused to %s a slot, though nobody uses the lock", ClientName(int(p.id)), op))
			return nil
		}
	}
	return nil
}

// obtains reports whether a client is granted a lock, in so many attempts.
func (r *run) obtains(p *clientState, l uint8, tries int) (bool, error) {
	for i := range tries {
		sent := p.sent
		res, err := r.asks(p, l, lock.Acquire)
		if err != nil || res.Held || p.dead {
			return res.Held, err
		}
		if i+1 == tries {
			break
		}
		if p.sent == sent && res.Outcome == lock.Unknown && !r.timed() {
			if err := r.notice(i); err != nil {
				return false, err
			}
		}
		if err := r.elapse(betweenAttempts); err != nil {
			return false, err
		}
	}
	return false, nil
}

// notice gives clients whose time is not ours some of their own, more after each attempt: one that fails without a word to the
// server may be about to see that its connection has ended.
func (r *run) notice(attempt int) error {
	_, err := r.wait(r.ctx, r.config.Patience>>(2*(attempts-1-attempt)), func() bool { return false })
	return err
}

// asks has a client carry out an operation while nobody else is at work. It is a step of its own.
func (r *run) asks(p *clientState, l uint8, op lock.Op) (lock.Result, error) {
	arg := uint8(0)
	if op == lock.Acquire && r.about.Limits {
		arg = r.limitOf(l)
	}
	return r.asksOf(p, l, scenario.Operation{Op: op, Arg: arg})
}

// asksOf is the same of an operation with its argument.
func (r *run) asksOf(p *clientState, l uint8, op scenario.Operation) (lock.Result, error) {
	if p.dead || p.client == nil { // its operation before did not end
		return lock.Result{}, nil
	}
	r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: p.id})
	r.now++
	r.record.At(r.now)
	r.call(p, l, op)
	over, err := r.goOn(r.config.Start, func() bool { return !p.busy })
	if err != nil {
		return lock.Result{}, err
	}
	if !over {
		r.uncontrolled.Hung++
		r.accuse(property.Progress, p.id, l, fmt.Sprintf("at rest, %s by %s does not end within %v", op.Op, ClientName(int(p.id)), r.config.Start))
		r.crash(p.id, false)
	}
	r.endStep()
	if p.dead {
		return lock.Result{}, nil
	}
	return p.result, nil
}

// auditor is the k-th client that audits, counted from 0. It has taken no part in the scenario.
func (r *run) auditor(k int) (*clientState, error) {
	n := len(r.sc.Clients)
	for len(r.clients) <= n+k {
		a := r.handles[0]
		if i := len(r.clients) - n; i > 0 {
			if err := r.startAuditors(r.ctx, i); err != nil {
				return nil, err
			}
			a = r.auditors[i-1]
		}
		r.openGate(true)
		err := a.ready(r.ctx)
		r.openGate(false)
		if err != nil {
			return nil, fmt.Errorf("a client that audits: %w", err)
		}
		r.mu.Lock()
		r.clients = append(r.clients, r.enter(uint8(len(r.clients)+1), a))
		r.mu.Unlock()
	}
	return &r.clients[n+k], nil
}

// inventory is what the clients have made on the server: items by name, with their amounts.
func (r *run) inventory() map[string]int {
	all := make(map[string]int)
	for _, item := range r.server.Items() {
		all[item.Name] = item.Amount
	}
	return all
}

// grown judges what the broker has more after an audit than before: what an audit adds each time is never taken away. Items may have
// taken the place of others.
func (r *run) grown(l uint8, before map[string]int) {
	if r.disagrees() != "" {
		return
	}
	r.exercised = r.exercised.With(property.NoLeak)
	now := r.inventory()
	thing, amount := r.server.Words()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		n, there := before[name]
		what := ""
		switch {
		case !there && len(now) > len(before):
			what = thing
		case there && now[name] > n && !r.about.Tokens: // tokens may be counted by messages
			what = fmt.Sprintf("%d %s more in %s", now[name]-n, amount, thing)
		default:
			continue
		}
		r.accuse(property.NoLeak, 0, l, fmt.Sprintf("at rest, acquiring and releasing all leaves %s %s behind", what, r.server.Canonical(name)))
		return
	}
}

// releaseAll has clients release what they hold.
func (r *run) releaseAll() error {
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || p.client == nil || p.held == 0 {
			continue
		}
		_, err := p.do(r.ctx, lock.Release, Params{Name: r.place(r.sc.Locks[r.lockOf(p.id)].Name), Slot: int(p.held)})
		if died(err) || errors.Is(err, errLasts) {
			err = p.kill()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// destroyAll has the setup client destroy the locks. It is false if that can't be done, or was not.
func (r *run) destroyAll() (all bool, err error) {
	if r.config.Kind == lock.Mutex {
		return true, nil
	}
	if !r.supports(lock.Destroy) || r.handles[0].client == nil {
		return false, nil
	}
	all = r.sc.HistoryTells() // behind a hole nobody finds what is to be destroyed
	for _, l := range r.sc.Locks {
		res, err := r.handles[0].do(r.ctx, lock.Destroy, Params{Name: r.place(l.Name)})
		if died(err) {
			r.crashed(0, err)
			return false, r.handles[0].kill()
		}
		if err != nil {
			return false, fmt.Errorf("destroying lock %s: %w", l.Name, err)
		}
		all = all && res.Outcome == lock.Done
	}
	return all, nil
}

// sweep deletes what items are left. destroyed says that the locks were, in an execution in which nothing went wrong.
func (r *run) sweep(destroyed bool) error {
	left := r.server.Items()
	if r.shared { // the connection stays that all share, and what it has for itself on a real server goes with it
		left = slices.DeleteFunc(left, func(i gate.Item) bool { return i.Owner != nil && !r.server.Ours() })
	}
	if destroyed && r.config.Kind != lock.Mutex && !r.about.Tokens && r.disagrees() == "" { // a next token has to be larger
		r.exercised = r.exercised.With(property.NoLeak)
		if len(left) > 0 {
			thing, _ := r.server.Words()
			r.accuse(property.NoLeak, 0, 0, "after everything was released and destroyed, "+thing+" "+r.server.Canonical(left[0].Name)+" is left")
		}
	}
	var names []string
	for _, item := range left {
		if item.Owner == nil || r.shared {
			names = append(names, item.Name)
		} else {
			r.part(item.Owner)
		}
	}
	return r.server.Remove(names)
}

// part cuts a connection that has an item for itself: the item goes with it.
func (r *run) part(c gate.Conn) {
	r.mu.Lock()
	if l := r.connections[c]; l != nil {
		l.client.dirty, l.client.harmed, l.client.cut = true, true, true
		r.leave(l)
	}
	r.mu.Unlock()
	c.Cut()
}
