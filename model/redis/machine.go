package redis

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// Protocol is the priority lock with some options.
type Protocol struct{ Options }

// Machine is one client of the lock, as a plain value: copying it forks the client. Times are in milliseconds of the
// client's own clock.
type Machine struct {
	Op     lock.Op
	Result lock.Result
	Phase  Phase
	// Held says that the client believes it holds the lock; Stopping, that it has acknowledged its loss but still
	// works.
	Held, Stopping bool
	// ID names the current attempt, or the last one, and Priority is its priority. Until is the latest end of its
	// belief.
	ID       ID
	Priority uint8
	Until    int64
	Deadline int64 // end of its wait for acknowledgements
	// Victims are those that have not acknowledged yet. Owed are the thieves that wait for this client's
	// acknowledgement.
	Victims, Owed []ID
	// Settled are the victims of the attempt that have acknowledged.
	Settled []ID
	// Doomed says that the attempt was stolen before it succeeded.
	Doomed bool
	// Unsettled are failed attempts with victims that may still be working: bit n is the n-th attempt before the
	// last.
	Unsettled uint16

	began    int64       // time of the operation's first command
	node     uint8       // the next server
	got      uint8       // servers that said yes: bit n is server n
	lost     bool        // a reply was lost
	failure  lock.Result // result of an acquire that gives up
	outgoing []Message
}

// Phase is the current activity of a client.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Stealing
	Waiting // for acknowledgements
	GivingUp
	Asking
	Extending
	Releasing
)

// String is the phase in words.
func (p Phase) String() string {
	return [...]string{"", "stealing", "waiting for acknowledgements", "giving up", "asking", "extending", "releasing"}[p]
}

// Message travels from client to client, not through the servers. It may arrive late, or never.
type Message struct {
	Ack      bool // the victim has stopped; otherwise the thief reports its theft
	From, To ID
}

// Outgoing are the messages that a client has sent since the last call.
func (m *Machine) Outgoing() []Message {
	out := m.outgoing
	m.outgoing = nil
	return out
}

// Start begins an operation of client number c. For an acquire, the argument is a priority; 0 is one chosen by the
// number.
func (p *Protocol) Start(m *Machine, c uint8, op lock.Op, arg uint8, now int64) {
	m.Op, m.Result, m.Phase, m.node, m.got, m.lost, m.began = op, lock.Result{}, Idle, 0, 0, false, now
	switch op {
	case lock.Acquire:
		m.ID, m.Priority, m.Phase = m.next(c), arg, Stealing
		m.Victims, m.Owed, m.Settled, m.Doomed, m.Unsettled = nil, nil, nil, false, m.Unsettled<<1
		if arg == 0 {
			m.Priority = c
		}
		m.Until = now + p.valid(m.Priority)
	case lock.Verify:
		m.Phase = Asking
		if p.Verify == ByClock {
			m.end(lock.Result{Outcome: lock.Done, Held: m.Held, Slot: 1})
		}
	case lock.Refresh:
		m.Phase = Extending
	case lock.Release:
		m.Phase, m.Held, m.Stopping = Releasing, false, false
	default:
		m.end(lock.Result{Outcome: lock.Done})
	}
}

// next is the ID of a client's next attempt.
func (m *Machine) next(c uint8) ID {
	attempt := uint8(m.ID)
	return NewID(c, attempt%255+1)
}

func (m *Machine) end(r lock.Result) { m.Phase, m.Result = Idle, r }

// Next is the command that the client sends next, and the index of its server, from 0.
func (p *Protocol) Next(m *Machine, l uint8) (server int, c Command) {
	c = Command{Key: Key{Lock: l}, ID: m.ID}
	claims := p.Entry == Claims
	switch m.Phase {
	case Stealing:
		c.Method, c.Priority, c.Lease = Steal, m.Priority, p.LeaseOf(m.Priority)
		c.Equal, c.Keep = p.Equal == Take, p.Stolen == Longest
		if claims {
			c.Method, c.Equal, c.Keep = Claiming, false, false
		}
	case Asking:
		c.Method = Get
		if claims {
			c.Method = Look
		}
	case Extending:
		c.Method, c.Lease = Extend, p.LeaseOf(m.Priority)
		if claims {
			c.Method = Prolong
		}
	default:
		c.Method = Release
		switch {
		case claims:
			c.Method, c.Also = Unclaim, m.Settled
		case p.Release == Unguarded && m.Phase == Releasing:
			c.Method = Del
		}
	}
	return int(m.node), c
}

// Apply hands the client the reply to its last command; class None is a lost reply.
func (p *Protocol) Apply(m *Machine, r Reply, now int64) {
	switch {
	case r.Class == None:
		m.lost = true
	case m.Phase == Stealing && r.Class == OK:
		m.got |= 1 << m.node
		p.addVictims(m, r.Value)
	case m.Phase == Asking && r.Value.Has(m.ID), m.Phase != Stealing && m.Phase != Asking && r.Class == OK:
		m.got |= 1 << m.node
	}
	if m.node++; int(m.node) == p.Servers {
		p.told(m, now)
	}
}

// Agreed reports whether a majority of the servers has said yes.
func (p *Protocol) Agreed(m *Machine) bool { return bits.OnesCount8(m.got) >= p.majority() }

// told continues after the client has asked every server.
func (p *Protocol) told(m *Machine, now int64) {
	agreed := p.Agreed(m)
	switch m.Phase {
	case Stealing:
		p.stolen(m, agreed, now)
	case Asking:
		p.answered(m, agreed, now)
	case Extending:
		agreed = agreed || p.Extension == Ignored
		if agreed {
			m.Until = m.began + p.valid(m.Priority)
		}
		p.answered(m, agreed, now)
	case GivingUp:
		m.end(m.failure)
	case Releasing:
		if m.lost {
			m.end(lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut, Slot: 1})
			return
		}
		m.end(lock.Result{Outcome: lock.Done, Slot: 1})
	}
}

// answered ends a verify or refresh. A client that learns that it does not hold the lock stops.
func (p *Protocol) answered(m *Machine, agreed bool, now int64) {
	held := agreed && m.Held && now < m.Until
	if !held {
		m.Held, m.Stopping = false, false
	}
	m.end(lock.Result{Outcome: lock.Done, Held: held, Slot: 1})
}

// Due is the time of the client's clock at which it has to act: give up waiting, or stop believing.
func (m *Machine) Due() (at int64, any bool) {
	switch {
	case m.Held:
		return m.Until, true
	case m.Phase == Waiting && len(m.Victims) > 0:
		return m.Deadline, true
	}
	return 0, false
}

// Blocked reports whether the client waits for acknowledgements that have not all arrived.
func (m *Machine) Blocked(now int64) bool {
	return m.Phase == Waiting && len(m.Victims) > 0 && now < m.Deadline
}

// drop removes an ID from a copy of a list.
func drop(ids []ID, id ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(x ID) bool { return x == id })
}
