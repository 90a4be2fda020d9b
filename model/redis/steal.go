package redis

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// addVictims records the claims that an acquire has replaced or covered by its own. Their clients are its victims.
func (p *Protocol) addVictims(m *Machine, victims Value) {
	for _, v := range victims {
		switch {
		case v.ID == m.ID || slices.Contains(m.Victims, v.ID):
		case p.Victims == NoVictim, p.Victims == FirstVictim && len(m.Victims) > 0:
		default:
			m.Victims = append(slices.Clip(m.Victims), v.ID)
		}
	}
	slices.Sort(m.Victims)
}

// stolen continues an acquire after every server was asked. If a majority said yes, the client asks its victims to
// stop.
func (p *Protocol) stolen(m *Machine, agreed bool, now int64) {
	if p.Validity == FromReply {
		m.Until = now + p.valid(m.Priority)
	}
	if !agreed || now >= m.Until {
		m.failure = lock.Result{Outcome: lock.Failed, Reason: p.refusal(m, agreed)}
		p.giveUp(m)
		return
	}
	for _, v := range m.Victims {
		m.outgoing = append(m.outgoing, Message{From: m.ID, To: v})
	}
	m.Phase, m.Deadline = Waiting, m.began+p.LeaseOf(m.Priority)*int64(p.Wait)/100
	if len(m.Victims) == 0 {
		p.Settle(m, now)
	}
}

// refusal is the reason of an acquire that no majority has granted. A single server's refusal says that the lock was
// taken at one moment, so that the lock is full. Refusals of several servers are of different moments, between which
// leases may have ended, so that the client has given up.
func (p *Protocol) refusal(m *Machine, agreed bool) lock.Reason {
	switch {
	case !agreed && m.lost:
		return lock.TimedOut
	case !agreed && p.Servers == 1:
		return lock.Full
	}
	return lock.GaveUp
}

// Settle ends the wait for acknowledgements, because all have arrived or the time for them is over.
func (p *Protocol) Settle(m *Machine, now int64) {
	late := len(m.Victims) > 0
	until := m.Until
	if !p.WaitCounts {
		until = now + p.valid(m.Priority)
	}
	if m.Doomed || late && p.Unanswered == Fail || now >= until {
		m.failure = lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}
		p.giveUp(m)
		return
	}
	m.Victims, m.Until, m.Held = nil, until, true
	m.end(lock.Result{Outcome: lock.Done, Held: true, Slot: 1})
}

// giveUp ends an acquire that fails. If all its victims have stopped, the client acknowledges to the clients that have
// stolen the lock from it. After a lost reply it may not know all its victims.
func (p *Protocol) giveUp(m *Machine) {
	settled := len(m.Victims) == 0 && !m.lost
	if !settled {
		m.Unsettled |= 1
	}
	if settled || p.GaveUp == Disown {
		for _, thief := range m.Owed {
			m.acknowledge(thief, m.ID)
		}
	}
	m.Owed, m.Victims = nil, nil
	if p.GiveUp == GiveUpLeave {
		m.end(m.failure)
		return
	}
	m.Phase, m.node, m.got, m.lost = GivingUp, 0, 0, false
}
