package foreign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// When a scenario is over, its locks are audited at rest: faults have ended, every operation has, the broker has noticed what is
// dead. Then one client after the other is at work, and nobody else:
//
//  1. fresh clients acquire what they can get while others believe to hold the lock; those verify it; all give it back; and who
//     cannot know whether it holds anything is ended;
//  2. time passes, so that whatever expires has;
//  3. fresh clients acquire: each free slot is granted, and the next acquire is refused; they count, and give all back;
//  4. each survivor acquires once, and gives it back;
//  5. fresh clients acquire all again and give it back, and the broker has no more than before.
//
// Each of these is an operation like any other, in the history and in the trace. What is granted too often then, the judge of
// certain holds finds; what is refused is said here, named by what has happened before. Nothing that happened before excuses it.

const (
	// mostAuditors is how many clients audit, at most: one for each slot, and one that is refused.
	mostAuditors = lock.MaxSlots + 3
	// attempts is how often a client may try before what it asks for is taken to be refused: it may have to see first that it
	// has lost its connection, or a former attempt may have to be undone.
	attempts = 4
	// longAfter is after how many virtual milliseconds whatever expires has expired.
	longAfter = 30 * 24 * 60 * 60 * 1000
	// leastLenience is how long is waited, at least, for an operation that a scenario has left in its midst.
	leastLenience = 50 * time.Millisecond
)

// end brings everything to rest, audits the locks if all that was to be done was done, and tidies up.
func (r *run) end(over bool) error {
	clean := over && !r.befell.faulty() && r.done()
	if err := r.rest(); err != nil {
		return err
	}
	if over && r.disagrees() == "" {
		if err := r.audit(); err != nil {
			return err
		}
	}
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
func (r *run) disagrees() string { return r.broker.disagreement() }

// rest ends faults and operations: whoever was paused goes on, replies arrive, connections are cut that the broker has dropped,
// and the broker notices what is dead.
func (r *run) rest() error {
	r.record.Begin(scenario.Action{Kind: scenario.Audit})
	r.auditing = true
	r.resolve()
	for i := range r.clients {
		r.arrive(r.clients[i].clientHandle)
	}
	r.gate(true)
	r.release()
	for _, c := range r.disconnected {
		c.Release()
	}
	err := r.finishCalls()
	r.record.End(&noTruth)
	return err
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
			l.broken = 0
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
		if !p.busy {
			continue
		}
		over, err := r.wait(r.ctx, r.lenience, func() bool { return !p.calling })
		if err != nil {
			return err
		}
		answer := p.take()
		if !over || answer == nil {
			r.lenience = max(r.lenience/2, leastLenience) // others like it may come
			r.uncontrolled.Hung++
			r.crash(p.id, false)
			continue
		}
		ended, err := r.ended(p, answer)
		if err != nil {
			return err
		}
		if !ended {
			r.conclude(p, answer.result, answer)
		}
	}
	return nil
}

// audit audits each lock of the scenario.
func (r *run) audit() error {
	if err := r.giveBack(); err != nil {
		return err
	}
	if !r.real() {
		r.now += longAfter
		r.record.At(r.now)
		r.broker.Advance(longAfter)
	}
	for l := range r.sc.Locks {
		if err := r.auditLock(uint8(l)); err != nil {
			return err
		}
	}
	return nil
}

// giveBack has whoever believes to hold a lock verify that while others have what they can get of it, and has all give it back.
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
			if r.supports(lock.Verify) {
				if _, err := r.asks(p, uint8(l), lock.Verify); err != nil {
					return err
				}
			}
		}
		if err := r.releases(uint8(l)); err != nil {
			return err
		}
	}
	return r.endUnsure()
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
		r.record.End(&noTruth)
		if _, err := r.wait(r.ctx, r.config.Patience, func() bool { return len(p.connections) == 0 }); err != nil {
			return err
		}
	}
	return nil
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
	case r.config.Kind == lock.Mutex:
		return 1, 1
	case r.about.Slotless():
		n := r.limit(l)
		return n, n
	}
	return r.record.slots(l, int(r.sc.Locks[l].Slots), r.config.Kind)
}

// fill has fresh clients acquire all slots of a lock, one more be refused, and then give all back. It is false where a slot was
// refused, or something is wrong with what was granted.
func (r *run) fill(l uint8, least, most int) (full bool, err error) {
	var holders []*clientState
	defer func() { err = errors.Join(err, r.releases(l)) }()
	for k := 0; k <= most; k++ {
		p, err := r.auditor(k)
		if err != nil {
			return false, err
		}
		tries := attempts
		if k >= least { // it may be refused
			tries = 1
		}
		held, err := r.obtains(p, l, tries)
		if err != nil {
			return false, err
		}
		if held {
			holders = append(holders, p)
			continue
		}
		if k < least {
			r.refused(p, l, k, least)
			return false, nil
		}
		break
	}
	if len(holders) > most {
		return false, nil // the judge of certain holds says so
	}
	r.exercised |= r.clauses()
	if err := r.counted(l, least, most, holders); err != nil {
		return false, err
	}
	return true, r.apart(l, most)
}

// apart has a client acquire each other lock while one is full: their names may be alike, but they are not.
func (r *run) apart(l uint8, most int) error {
	for o := range r.sc.Locks {
		if least, _ := r.slots(uint8(o)); o == int(l) || least == 0 {
			continue
		}
		p, err := r.auditor(most + 1)
		if err != nil {
			return err
		}
		alone, err := false, error(nil)
		beside, err := r.obtains(p, uint8(o), 1)
		if err == nil && !beside {
			if err = r.releases(l); err == nil {
				alone, err = r.obtains(p, uint8(o), 1)
			}
		}
		if err != nil {
			return err
		}
		r.exercised = r.exercised.With(property.NameSafety)
		if alone && !beside {
			r.accuse(property.NameSafety, p.id, uint8(o), fmt.Sprintf("at rest, lock %s is refused while lock %s is full, and granted when that is released",
				r.sc.Locks[o].Name, r.sc.Locks[l].Name))
		}
		if err := r.releases(uint8(o)); err != nil {
			return err
		}
	}
	return nil
}

// counted has a client count the slots of a lock that others hold all of.
func (r *run) counted(l uint8, least, most int, holders []*clientState) error {
	if !r.supports(lock.Count) || least != most || len(holders) == 0 {
		return nil
	}
	p, err := r.auditor(0)
	if err != nil {
		return err
	}
	res, err := r.asks(p, l, lock.Count)
	if err == nil && res.Outcome == lock.Done {
		r.exercised = r.exercised.With(property.ExactCount)
		if int(res.Slots) != least {
			r.accuse(property.ExactCount, p.id, l, fmt.Sprintf("at rest, %s counts %d slots, and %d were administered", external.ClientName(int(p.id)), res.Slots, least))
		}
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
		held, err := r.obtains(p, l, attempts)
		if err != nil {
			return err
		}
		r.exercised = r.exercised.With(property.Progress)
		if !held {
			r.accuse(property.Progress, p.id, l, fmt.Sprintf("at rest, %s, who survived, does not get the lock, which is free", external.ClientName(int(p.id))))
			return nil
		}
		if _, err := r.asks(p, l, lock.Release); err != nil {
			return err
		}
	}
	return nil
}

// refused is a fresh client that was refused a slot that is free: k others hold one, and there are at least so many.
func (r *run) refused(p *clientState, l uint8, k, least int) {
	what := "the lock"
	if r.config.Kind == lock.Semaphore {
		what = fmt.Sprintf("a slot, though %d of %d are free", least-k, least)
	}
	name, because := r.cause(l)
	r.accuse(name, p.id, l, fmt.Sprintf("at rest, %s, a fresh client, is refused %s%s", external.ClientName(int(p.id)), what, because))
}

// cause is the clause of the audit that fails where a free slot is refused, by the gravest that has happened before.
func (r *run) cause(l uint8) (property.Property, string) {
	switch did := r.record.did(l); {
	case r.befell.restarted:
		return property.SurvivesRestart, ": the broker was restarted"
	case r.befell.crashed:
		return property.CrashFrees, ": a client had crashed"
	case r.befell.disconnected:
		return property.NoLeak, ": a client had lost a reply, a channel or its connection"
	case did.administered && r.config.Kind == lock.Semaphore:
		return property.ContiguousSlots, ": its slots had been changed"
	case did.released:
		return property.EffectiveRelease, ": everybody had released it"
	}
	return property.Progress, ": nobody had held it"
}

// clauses are those of the audit that were put to the test where all slots were granted.
func (r *run) clauses() property.Set {
	all := property.Set(0).With(property.Progress)
	if r.befell.restarted {
		all = all.With(property.SurvivesRestart)
	}
	if r.befell.crashed {
		all = all.With(property.CrashFrees)
	}
	if r.befell.disconnected {
		all = all.With(property.NoLeak)
	}
	for l := range r.sc.Locks {
		did := r.record.did(uint8(l))
		if did.administered && r.config.Kind == lock.Semaphore {
			all = all.With(property.ContiguousSlots)
		}
		if did.released {
			all = all.With(property.EffectiveRelease)
		}
	}
	return all
}

// obtains reports whether a client is granted a lock, in so many attempts.
func (r *run) obtains(p *clientState, l uint8, tries int) (bool, error) {
	for i := range tries {
		res, err := r.asks(p, l, lock.Acquire)
		if err != nil || res.Held || p.dead {
			return res.Held, err
		}
		if !r.real() && i+1 < tries {
			r.now += longAfter
			r.record.At(r.now)
			r.broker.Advance(longAfter)
		}
	}
	return false, nil
}

// asks has a client carry out an operation while nobody else is at work. It is a step of its own.
func (r *run) asks(p *clientState, l uint8, op lock.Op) (lock.Result, error) {
	r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: p.id})
	defer func() { r.record.End(&noTruth) }()
	r.now++
	r.record.At(r.now)
	arg := uint8(0)
	if op == lock.Acquire && r.about.Limits {
		arg = r.limitOf(l)
	}
	r.call(p, l, scenario.Operation{Op: op, Arg: arg})
	over, err := r.wait(r.ctx, r.config.Start, func() bool { return !p.calling && !p.behind() })
	if err != nil {
		return lock.Result{}, err
	}
	answer := p.take()
	if !over || answer == nil {
		r.uncontrolled.Hung++
		r.accuse(property.Progress, p.id, l, fmt.Sprintf("at rest, %s by %s does not end within %v", op, external.ClientName(int(p.id)), r.config.Start))
		r.crash(p.id, false)
		return lock.Result{}, nil
	}
	if ended, err := r.ended(p, answer); ended || err != nil {
		return lock.Result{}, err
	}
	r.conclude(p, answer.result, answer)
	return r.said(op, p.arg, answer.result), nil
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
		if err := a.ready(r.ctx); err != nil {
			return nil, fmt.Errorf("a client that audits: %w", err)
		}
		r.mu.Lock()
		r.clients = append(r.clients, r.enter(uint8(len(r.clients)+1), a))
		r.mu.Unlock()
	}
	return &r.clients[n+k], nil
}

// inventory is what the broker has: queues by name, with how many messages.
func (r *run) inventory() map[string]int {
	all := make(map[string]int)
	r.broker.Observe(func(v wire.State) {
		for name := range v.Queues() {
			if !r.names.before[name] {
				all[name] = v.Depth(name)
			}
		}
	})
	return all
}

// grown judges what the broker has more after an audit than before: what an audit adds each time is never taken away.
func (r *run) grown(l uint8, before map[string]int) {
	if r.disagrees() != "" {
		return
	}
	r.exercised = r.exercised.With(property.NoLeak)
	now := r.inventory()
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if n, there := before[name]; !there || now[name] > n && !r.about.Tokens { // tokens may be counted by messages
			what := "queue"
			if there {
				what = fmt.Sprintf("%d messages more in queue", now[name]-n)
			}
			r.accuse(property.NoLeak, 0, l, fmt.Sprintf("at rest, acquiring and releasing all leaves %s %s behind", what, r.names.canonical(name)))
			return
		}
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

// sweep deletes what queues are left. destroyed says that the locks were, in an execution in which nothing went wrong.
func (r *run) sweep(destroyed bool) error {
	left, owners := r.left(r.names.before)
	if r.shared { // the connection stays
		left, owners = r.unshared(left, owners), nil
	}
	if destroyed && r.config.Kind != lock.Mutex && !r.about.Tokens && r.disagrees() == "" { // a next token has to be larger
		r.exercised = r.exercised.With(property.NoLeak)
		for _, name := range left {
			r.accuse(property.NoLeak, 0, 0, "after everything was released and destroyed, queue "+r.names.canonical(name)+" is left")
			break
		}
	}
	r.mu.Lock()
	for _, c := range owners {
		if l := r.connections[c]; l != nil {
			l.client.dirty, l.client.harmed, l.client.cut = true, true, true
			r.leave(l)
		}
	}
	r.mu.Unlock()
	for _, c := range owners { // exclusive queues go with them
		if c != nil {
			c.Cut()
		}
	}
	return r.broker.remove(slices.DeleteFunc(left, func(name string) bool { return owners[name] != nil }))
}
