package foreign

import (
	"fmt"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// slots is the minimum and maximum number of slots that lock l may have after the administrative operations so far.
// They differ if an operation's outcome is unknown.
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

// fill lets fresh clients acquire all slots of lock l until one is refused, and then release them. full is false if a
// free slot was refused or too many slots were granted. After an error no client is asked to release anything, because
// one may still have an operation under way; the run ends and with it the clients.
func (r *run) fill(l uint8, least, most int) (full bool, err error) {
	if full, err = r.filled(l, least, most); err != nil {
		return false, err
	}
	return full, r.releases(l)
}

// filled is fill without releasing the slots.
func (r *run) filled(l uint8, least, most int) (full bool, err error) {
	held, err := r.takeAll(l, least, most)
	if err != nil || held < least || held > most { // reported by beliefs.Audit or the judge of certain holds
		return false, err
	}
	if held > 0 {
		if err := r.counted(l); err != nil {
			return false, err
		}
	}
	return true, r.apart(l, least, most)
}

// takeAll lets fresh clients acquire slots of lock l, one after the other, until one is refused. held is the number of
// slots granted.
func (r *run) takeAll(l uint8, least, most int) (held int, err error) {
	for held <= most {
		p, err := r.auditor(held)
		if err != nil {
			return held, err
		}
		tries := attempts
		if held >= least { // the lock may have no more slots
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

// apart checks that a client can acquire each of the other locks while lock l is full: locks with similar names must be
// independent.
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

// separate judges why lock o was refused while lock l was full. It reports whether o is independent of l. They depend
// on each other if o is granted once l is released, and refused in each attempt when l is full again.
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

// counted lets a client count the slots of lock l while all are held. The judge of the history checks the result.
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

// survive lets every surviving client of lock l acquire it once and release it.
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

// administer lets a fresh client add a slot to lock l, which no client uses, and remove it again.
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

// obtains reports whether a client is granted a lock, in the given number of tries.
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

// notice waits in real time, longer after each attempt. It gives a client without virtual time the chance to notice
// that its connection has ended. Until then, the client's operations may fail without sending anything.
func (r *run) notice(attempt int) error {
	_, err := r.wait(r.ctx, r.config.Patience>>(2*(attempts-1-attempt)), func() bool { return false })
	return err
}

// asks lets client p carry out operation op on lock l in a step of the audit, while no other client works.
func (r *run) asks(p *clientState, l uint8, op lock.Op) (lock.Result, error) {
	arg := uint8(0)
	if op == lock.Acquire && r.about.Limits {
		arg = r.limitOf(l)
	}
	return r.asksOf(p, l, scenario.Operation{Op: op, Arg: arg})
}

// asksOf is asks for an operation with a given argument.
func (r *run) asksOf(p *clientState, l uint8, op scenario.Operation) (lock.Result, error) {
	if p.dead || p.client == nil { // an earlier operation has ended the client
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

// auditor is the k-th client that audits, from 0. It took no part in the scenario. It is started if necessary.
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
