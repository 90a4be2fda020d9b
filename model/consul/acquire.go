package consul

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// contend chooses the next step of a contender without a slot: it needs a session, and then its own key, before it
// reads.
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

// again makes a contender try once more, if it may.
func (p *Protocol) again(m *Machine) {
	if m.tries++; m.tries > p.Retries {
		m.end(lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp})
		return
	}
	p.contend(m)
}

// Apply hands a client the reply r to its last request sent. A lost reply is [Machine.Lose].
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

// entered handles the reply to a contender that asked for its key. An unknown session has ended.
func (p *Protocol) entered(m *Machine, r *Reply) {
	switch {
	case r.OK || p.Entry == Ignored:
		m.Entered = true
		p.contend(m)
	case r.Status != 200:
		m.Session = "" // it needs another session, which does not count as a failed attempt
		p.contend(m)
	default:
		p.again(m)
	}
}

// look makes a contender decide by what it has read.
func (p *Protocol) look(m *Machine) {
	limit := m.seen.body.Limit
	if !m.seen.there {
		limit = p.limit(m)
	}
	n := len(p.holders(m))
	switch {
	case p.Confirm && !slices.Contains(m.seen.live, m.Session): // its session has ended
		m.Session = ""
		p.contend(m)
	case slices.Contains(m.seen.body.Holders, m.Session) && slices.Contains(m.seen.live, m.Session):
		p.granted(m) // an earlier attempt, whose reply was lost, was granted
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

// confirmed handles the read of a contender that was added to the holders. If it is no longer among them, or its
// session has ended, it has no slot; others may have seen it hold one.
func (p *Protocol) confirmed(m *Machine, r *Reply) {
	m.seen.upTo = r.Index
	if p.Holds(m, r) {
		p.granted(m)
		return
	}
	m.Session = "" // it has ended, or another client has removed it from the holders
	m.end(lock.Result{Outcome: lock.Unknown, Reason: lock.Disconnected})
}

func (p *Protocol) granted(m *Machine) {
	m.Held, m.Watched = true, m.seen.upTo
	m.end(lock.Result{Outcome: lock.Done, Held: true})
}
