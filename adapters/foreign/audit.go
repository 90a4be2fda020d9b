package foreign

import (
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// When a scenario is over, its locks are audited at rest: all faults and operations have ended, and the broker has
// noticed every dead client and connection. In the audit only one client works at a time. A fresh client is one that
// took no part in the scenario.
//
//  1. While clients believe that they hold the lock, fresh clients acquire what they can get. The believers verify it,
//     and all clients give it back. If the lock has leases, a fresh client then acquires it, and gives it back. A client
//     that cannot know whether it holds something is killed.
//  2. Time passes, so that everything that expires has expired.
//  3. Fresh clients acquire: each free slot is granted, and the next acquire is refused. They count the slots, and give all
//     back.
//  4. Each survivor acquires once, and gives the slot back. An administrator adds a slot and removes it.
//  5. Fresh clients acquire all slots again and give them back, after which the broker has no more items than before.
//
// These operations are recorded in the history and in the trace like any other. If too many slots are granted, the
// judge of certain holds reports it. If a free slot is refused, beliefs.Audit reports it, with the gravest earlier
// fault. No earlier fault excuses a refusal.

const (
	// mostAuditors is the maximum number of clients that audit: one for each slot, and some that are refused.
	mostAuditors = lock.MaxSlots + 3
	// attempts is the number of attempts after which a client's request counts as refused in an audit. The client may
	// first have to notice a lost connection, or to undo an earlier attempt.
	attempts = 4
	// restTime is the minimum time in virtual milliseconds that passes at rest, so that everything that can expire has
	// expired. It is less than half an hour, after which RabbitMQ takes back unacknowledged messages
	// (consumer_timeout). That would hide that they were lost.
	restTime = 25 * 60 * 1000
	// fewSlots is the maximum number of slots of a lock to which the audit adds one more: locks with more slots may
	// have no room.
	fewSlots = 6
	// betweenAttempts is the pause between two attempts, in virtual milliseconds.
	betweenAttempts = 60 * 1000
	// leastLenience is the minimum time to wait for an operation that is under way when the scenario ends.
	leastLenience = 50 * time.Millisecond
)

// end ends all faults and operations, audits the locks, and deletes them. over says that the scenario was carried out
// completely; otherwise there is no audit.
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
	r.openGate(true) // nothing is recorded from here on
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

// disagrees describes how a real broker differed from the simulated one; "" if it did not.
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

// auditLock audits one lock. Meanwhile no client uses another lock, except to check that the two are separate.
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
