package foreign

import (
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
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
