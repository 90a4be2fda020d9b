package foreign

import (
	"time"

	"github.com/lockproof/lockproof/model/history"
)

// A lock with leases is held until its holder releases it or the lease is over, by the server's clock. The runner counts a lease from
// the call of the acquire, so that it ends no later than at the server. A holder that goes on after that is no violation: without
// fencing tokens nobody can prevent it. The next holder's lease is a certain hold again, which nobody may take from it.

// LeaseTime is the lease that clients are told to acquire for, of virtual time.
const LeaseTime = 30 * time.Second

// lease is when the hold of a client may end by itself.
type lease struct {
	ends int64 // in virtual milliseconds; 0 is never, or it has ended
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

// lapse takes in whose lease has ended.
func (r *run) lapse() {
	for i := range r.clients {
		p := &r.clients[i]
		if p.held > 0 && p.lease.ends > 0 && r.now >= p.lease.ends {
			p.lease = lease{}
			r.event(history.Lapse, p.id)
		}
	}
}
