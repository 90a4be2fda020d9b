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

// LeaseTime is the duration of the leases that clients acquire and refresh, in virtual time.
const LeaseTime = 30 * time.Second

// lease is when the hold of a client may end by itself.
type lease struct {
	ends int64 // in virtual milliseconds; 0 is never, or it has ended
	next int64 // end of the lease that the call under way asks for, if its answer is yes
}

// leased notes that p is told to acquire for a time, and returns that time.
func (r *run) leased(p *clientState) time.Duration {
	p.lease = lease{}
	if !r.about.Leases {
		return 0
	}
	p.lease.ends = r.now + LeaseTime.Milliseconds()
	return LeaseTime
}

// extending notes that p is told to extend its lease, if its operation does that, and returns the time.
func (r *run) extending(p *clientState) time.Duration {
	if p.op != lock.Refresh {
		return 0
	}
	p.lease.next = r.now + LeaseTime.Milliseconds()
	return LeaseTime
}

// extended handles that a client was told that it has extended its lease.
func (l *lease) extended() {
	*l = lease{ends: l.next}
}

// lapse ends the leases whose time is over, including those of calls under way: the answer to such a call says nothing about
// the present.
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
