package redis

import (
	"math/bits"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// Protocol is the priority lock with its options. It drives the machines of the lock's clients.
type Protocol struct{ Options }

// Machine is one client of the lock, as a plain value: copying it forks the client. Times are in milliseconds of the
// client's own clock.
type Machine struct {
	Op     lock.Op
	Result lock.Result
	Phase  Phase
	// Held says that the client believes it holds the lock. Stopping says that it has acknowledged that the lock was
	// stolen, but is still working.
	Held, Stopping bool
	// ID names the client's last attempt, and Priority is that attempt's priority. Until is the time at which the
	// client stops believing that it holds the lock, if nothing else ends its belief before.
	ID       ID
	Priority uint8
	Until    int64
	Deadline int64 // time at which the client stops waiting for acknowledgements
	// Victims are attempts of clients from which this one has stolen the lock, and which have not acknowledged yet.
	// Owed are attempts of clients that have stolen the lock from this one, and wait for its acknowledgement.
	Victims, Owed []ID
	// Settled are the victims of the last attempt that have acknowledged.
	Settled []ID
	// Doomed says that another client stole the lock before the attempt succeeded.
	Doomed bool
	// Unsettled are earlier attempts that failed while their victims might still be working: bit n is the n-th attempt
	// before the last.
	Unsettled uint16

	began    int64       // time at which the operation began
	node     uint8       // index of the next server to ask
	got      uint8       // bit n: server n said yes
	lost     bool        // a reply of the operation was lost
	failure  lock.Result // result of an acquire that is giving up
	outgoing []Message
}

// Phase is what a client does now.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Stealing
	Waiting // waiting for acknowledgements
	GivingUp
	Asking
	Extending
	Releasing
)

// String is the phase in words.
func (p Phase) String() string {
	return [...]string{"", "stealing", "waiting for acknowledgements", "giving up", "asking", "extending", "releasing"}[p]
}

// Message is a message from one client to another, without a server. It may arrive late, or be lost.
type Message struct {
	Ack      bool // the victim has stopped working; otherwise a thief says that it has stolen the lock
	From, To ID
}

// Outgoing returns the messages that the client has sent since the last call of Outgoing.
func (m *Machine) Outgoing() []Message {
	out := m.outgoing
	m.outgoing = nil
	return out
}

// Start begins an operation of client number c at time now of its clock. For an acquire, arg is the priority; 0 means
// that c is the priority.
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

// next is the ID of the next attempt of client number c.
func (m *Machine) next(c uint8) ID {
	attempt := uint8(m.ID)
	return NewID(c, attempt%255+1)
}

func (m *Machine) end(r lock.Result) { m.Phase, m.Result = Idle, r }

// Next is the client's next command on lock number l, and the index of the server that gets it, from 0.
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

// Apply hands the client the reply to its last command. Class None means that the reply was lost.
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

// Agreed reports whether a majority of the servers has said yes to the client's operation.
func (p *Protocol) Agreed(m *Machine) bool { return bits.OnesCount8(m.got) >= p.majority() }

// told continues an operation after every server was asked.
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

// answered ends a verify or refresh. If the client does not hold the lock, it stops working.
func (p *Protocol) answered(m *Machine, agreed bool, now int64) {
	held := agreed && m.Held && now < m.Until
	if !held {
		m.Held, m.Stopping = false, false
	}
	m.end(lock.Result{Outcome: lock.Done, Held: held, Slot: 1})
}

// Due returns the time of the client's clock at which the client has to act: to stop believing that it holds the lock,
// or to stop waiting for acknowledgements. any is false if there is no such time.
func (m *Machine) Due() (at int64, any bool) {
	switch {
	case m.Held:
		return m.Until, true
	case m.Phase == Waiting && len(m.Victims) > 0:
		return m.Deadline, true
	}
	return 0, false
}

// Blocked reports whether the client is waiting for acknowledgements at time now of its clock.
func (m *Machine) Blocked(now int64) bool {
	return m.Phase == Waiting && len(m.Victims) > 0 && now < m.Deadline
}

// drop returns a copy of a list without one ID.
func drop(ids []ID, id ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(x ID) bool { return x == id })
}
