package consul

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// contend chooses the next step of a contender, a client that acquires: it creates a session if it has none, acquires
// its own key if it has not yet, and then reads the semaphore's keys.
func (p *Protocol) contend(m *Machine) {
	switch {
	case m.Session == "":
		m.Phase = Opening
	case !m.Entered:
		m.Phase = Entering
	case p.Prune == TwoReads:
		m.Phase = Looking
	default:
		m.Phase = Reading
	}
}

// again makes a contender try again. After Retries further attempts the acquire gives up.
func (p *Protocol) again(m *Machine) {
	if m.tries++; m.tries > p.Retries {
		m.end(lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp})
		return
	}
	p.contend(m)
}

// Apply hands a client the reply r to sent, its last request. If the reply was lost, [Machine.Lose] is called instead.
func (p *Protocol) Apply(m *Machine, sent *Request, r *Reply) {
	switch m.Phase {
	case Opening:
		m.Session, m.Entered = sent.Session.ID, false
		if m.Op == lock.Connect {
			m.end(lock.Result{Outcome: lock.Done})
			return
		}
		p.contend(m)
	case Entering:
		p.entered(m, r)
	case Looking:
		m.earlier, m.Phase = p.read(r).live, Reading
	case Reading, Waiting:
		m.seen = p.read(r)
		p.look(m)
	case Claiming:
		p.claimed(m, r)
	case Confirming:
		p.confirmed(m, r)
	case Checking:
		if !p.Holds(m, r) {
			m.Held = false
		}
		m.Watched = r.Index
		m.end(lock.Result{Outcome: lock.Done, Held: m.Held})
	default:
		p.left(m, r)
	}
}

// entered handles the reply to a contender that acquires its own key. A status other than 200 means that its session
// has ended.
func (p *Protocol) entered(m *Machine, r *Reply) {
	switch {
	case r.OK || p.Entry == Ignored:
		m.Entered = true
		p.contend(m)
	case r.Status != 200:
		m.Session = "" // the new session does not count as a failed attempt
		p.contend(m)
	default:
		p.again(m)
	}
}

// look decides what a contender does after its read: claim a slot, wait, or fail.
func (p *Protocol) look(m *Machine) {
	limit := m.seen.body.Limit
	if !m.seen.there {
		limit = p.limit(m)
	}
	n := len(p.holders(m))
	switch {
	case p.Confirm && !slices.Contains(m.seen.live, m.Session): // the client's session has ended
		m.Session = ""
		p.contend(m)
	case slices.Contains(m.seen.body.Holders, m.Session) && slices.Contains(m.seen.live, m.Session):
		p.granted(m) // an earlier write, whose reply was lost, took effect
	case p.Differs == Refuse && limit != p.limit(m):
		m.end(lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp})
	case n < limit, n == limit && p.Compare == AtMost:
		m.Phase = Claiming
	case p.Full == Listen && !m.waited:
		m.Phase, m.waited = Waiting, true
	default:
		m.end(lock.Result{Outcome: lock.Failed, Reason: lock.Full})
	}
}

func (p *Protocol) claimed(m *Machine, r *Reply) {
	switch {
	case !r.OK && p.Claim == Heeded:
		p.again(m)
	case p.Confirm:
		m.Phase = Confirming
	default:
		p.granted(m)
	}
}

// confirmed handles the read after a contender has written itself into the list of holders. If it is not in that list,
// or its session has ended, the acquire's outcome is unknown: other clients may have seen it as a holder.
func (p *Protocol) confirmed(m *Machine, r *Reply) {
	m.seen.upTo = r.Index
	if p.Holds(m, r) {
		p.granted(m)
		return
	}
	m.Session = "" // the session has ended, or another client removed it from the holders
	m.end(lock.Result{Outcome: lock.Unknown, Reason: lock.Disconnected})
}

func (p *Protocol) granted(m *Machine) {
	m.Held, m.Watched = true, m.seen.upTo
	m.end(lock.Result{Outcome: lock.Done, Held: true})
}
