package foreign

import (
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// A lock with leases is held until its holder releases it or the lease is over, by the server's clock. The runner counts a lease from
// the call of the acquire, so that it ends no later than at the server. A holder that goes on after that is no violation: without
// fencing tokens nobody can prevent it. The next holder's lease is a certain hold again, which nobody may take from it.
//
// Clients that extend a lease, by a refresh, hold it for as long again from that call, if they are told yes. What they are told
// counts as a grant where the lease before has ended: nobody else may hold the lock for certain then.

// LeaseTime is the lease that clients are told to acquire for, of virtual time.
const LeaseTime = 30 * time.Second

// lease is when the hold of a client may end by itself, in virtual milliseconds; 0 is never.
type lease struct {
	ends int64 // in virtual milliseconds; 0 is never, or it has ended
	next int64 // of the one that it is about to have, if the call that asks for it is told yes
}

// leased notes that a client is told to acquire for a time, and returns that.
func (r *run) leased(p *clientState) time.Duration {
	p.lease = lease{}
	if !r.about.Leases {
		return 0
	}
	p.lease.ends = r.now + LeaseTime.Milliseconds()
	return LeaseTime
}

// extending notes that a client is told to extend its lease, if that is its operation, and returns for how long.
func (r *run) extending(p *clientState) time.Duration {
	if p.op != lock.Refresh {
		return 0
	}
	p.lease.next = r.now + LeaseTime.Milliseconds()
	return LeaseTime
}

// extended takes in that a client was told that it has extended its lease.
func (l *lease) extended() {
	*l = lease{ends: l.next}
}

// lapse takes in whose lease has ended, that of a call under way as well: what that is told then says nothing of now.
func (r *run) lapse() {
	for i := range r.clients {
		p := &r.clients[i]
		taken := p.held > 0 || p.busy && p.op == lock.Acquire
		if taken && p.lease.ends > 0 && r.now >= p.lease.ends {
			p.lease.ends = 0
			r.event(history.Lapse, p.id)
		}
		if p.lease.next > 0 && r.now >= p.lease.next {
			p.lease.next = 0
			r.event(history.Lapse, p.id)
		}
	}
}
