package redis

import "slices"

// Receive hands a client a message from another client: an acknowledgement, or the news that the lock was stolen.
func (p *Protocol) Receive(m *Machine, msg Message) {
	switch {
	case msg.Ack:
		if m.ID == msg.To && m.Phase == Waiting && slices.Contains(m.Victims, msg.From) {
			m.Victims, m.Settled = drop(m.Victims, msg.From), append(slices.Clip(m.Settled), msg.From)
			slices.Sort(m.Settled)
		}
	case m.ID != msg.To:
		p.past(m, msg)
	case m.Held && p.Ack == BeforeWork:
		m.Stopping = true
		m.acknowledge(msg.From, msg.To)
	case m.Held:
		m.Held = false
		m.acknowledge(msg.From, msg.To)
	case m.Phase == Stealing, m.Phase == Waiting:
		m.Doomed = true
		if p.Chain == ChainAtOnce {
			m.acknowledge(msg.From, msg.To)
			return
		}
		m.Owed = append(slices.Clip(m.Owed), msg.From)
	default:
		p.past(m, msg)
	}
}

// past handles the message that a thief has stolen the lock from an earlier attempt of the client. If that attempt is
// unsettled, its own victims may still be working. The client then acknowledges only if GaveUp is not-mine; otherwise
// it always acknowledges.
func (p *Protocol) past(m *Machine, msg Message) {
	age := uint8(m.ID) - uint8(msg.To)
	if uint8(m.ID) < uint8(msg.To) {
		age-- // attempt numbers start at 1
	}
	settled := age < 16 && m.Unsettled&(1<<age) == 0
	if settled || p.GaveUp == Disown {
		m.acknowledge(msg.From, msg.To)
	}
}

// Stop makes a client stop working, since its lease is over or it has acknowledged that the lock was stolen.
func (m *Machine) Stop() { m.Held, m.Stopping = false, false }

func (m *Machine) acknowledge(thief, as ID) {
	m.outgoing = append(m.outgoing, Message{Ack: true, From: as, To: thief})
}
