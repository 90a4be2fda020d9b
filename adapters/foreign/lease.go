package foreign

import (
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// A lock with leases is held until its holder releases it or the lease ends by the server's clock. The runner counts a lease
// from the call of the acquire, so that it ends no later than on the server. A holder that goes on after its lease is no
// violation: without fencing tokens that cannot be prevented. The next holder's lease is a certain hold again, which no
// client may take from it.
//
// Clients that extend a lease with a refresh hold the lock for another lease time from that call, if the answer is yes. If
// the earlier lease has already ended, the yes counts as a new grant: no other client may hold the lock for certain then.

// LeaseTime is the duration of leases in acquires and refreshes, in virtual time.
const LeaseTime = 30 * time.Second

// lease is the time at which the hold of a client ends by itself.
type lease struct {
	ends int64 // in virtual milliseconds; 0 if the lease has ended or there is none
	next int64 // end of the lease that the refresh under way asks for; 0 if there is none
}

// leased records that p is about to acquire a lock for LeaseTime, and returns LeaseTime; 0 for a lock without leases.
func (r *run) leased(p *clientState) time.Duration {
	p.lease = lease{}
	if !r.about.Leases {
		return 0
	}
	p.lease.ends = r.now + LeaseTime.Milliseconds()
	return LeaseTime
}

// extending records that p is about to extend its lease, if its operation is a refresh, and returns the new duration;
// else 0.
func (r *run) extending(p *clientState) time.Duration {
	if p.op != lock.Refresh {
		return 0
	}
	p.lease.next = r.now + LeaseTime.Milliseconds()
	return LeaseTime
}

// extended records that the client was told that its lease is extended.
func (l *lease) extended() {
	*l = lease{ends: l.next}
}

// lapse ends the leases whose time is over. It includes leases that calls under way ask for: a later yes to such a call
// does not mean that the client holds the lock now.
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
