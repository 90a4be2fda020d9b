package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Link is a client's knowledge of its connection.
type Link uint8

// The states of a link. Up includes an open channel.
const (
	Down Link = iota
	ChannelDown
	Up
)

// Machine is one client of one lock. It is a plain value: copying it forks the client. Other code reads its fields
// and drives it through an [Implementation]; only variants that break a rule on purpose change its fields.
type Machine struct {
	Op    lock.Op
	Phase Phase
	// Then is the phase after a repair of the link. Decided says that the phase already has its replies, so that only
	// its decision is left.
	Then    Phase
	Decided bool

	Link    Link
	Channel uint8 // the number of its channel
	Held    uint8 // the slot that the client believes it holds; 0 is none
	Mutex   bool  // it holds the administration mutex

	Arg  uint8 // the operation's argument: a number of slots, or a slot
	Slot uint8 // the current slot: L of the guidelines
	Last uint8 // where an iteration over A queues ends
	Top  uint8 // the number of slots that it has determined: C of the guidelines

	Tries    uint8 // failed attempts so far
	Repairs  uint8 // number of repairs of a channel that broke without cause
	Sleep    uint8 // milliseconds to wait before the next command
	Answered uint8 // number of replies received for the current batch
	// Seen has a bit for each reply of the batch: a declare that succeeded, or a probe that found a queue.
	Seen uint32

	Result lock.Result
}

// Idle reports whether no operation is under way.
func (m *Machine) Idle() bool { return m.Phase == NoPhase }

// Done reports whether the operation that was started is complete; Result has its result.
func (m *Machine) Done() bool { return m.Phase == NoPhase && m.Result.Outcome != lock.Pending }

// Implementation is a lock as the harness runs it: the reference, or a variant with a bug. It has no state of its
// own; the machine has all state.
type Implementation interface {
	// Start begins an operation on an idle machine. arg is the number of slots for create, add and remove, at least
	// 1, and the slot for wait. Connect always ends ok; the link has its result.
	Start(m *Machine, op lock.Op, arg uint8)
	// Choices is the number of values that a random option has now, or 0 if the machine sends a command instead.
	// Choose takes one of them, counted from 0.
	Choices(m *Machine) int
	Choose(m *Machine, i int)
	// Next is the next command to write; the machine must be neither done nor choosing.
	Next(m *Machine) amqp.Command
	// Pending is the number of commands, starting with Next, that may be written before their replies are read. They
	// are written on one channel, in order.
	Pending(m *Machine) int
	// Apply hands the machine the reply to the command that Next returned.
	Apply(m *Machine, r amqp.Reply)
}

// Protocol is the reference: one lock's type, options and queue names. It is immutable, and any number of machines
// may share it.
type Protocol struct {
	Kind    lock.Kind
	Options Options
	Layout  *Layout
}

var _ Implementation = (*Protocol)(nil)

// Start implements [Implementation].
func (p *Protocol) Start(m *Machine, op lock.Op, arg uint8) {
	*m = Machine{Op: op, Arg: arg, Link: m.Link, Channel: m.Channel, Held: m.Held, Slot: 1}
	if op == lock.Connect {
		m.Result.Outcome = lock.Done
		p.repair(m, NoPhase, false)
		return
	}
	first := p.first(m)
	if m.Link != Up {
		p.repair(m, first, false)
		return
	}
	p.enter(m, first)
}

// first is the first phase of an operation.
func (p *Protocol) first(m *Machine) Phase {
	switch m.Op {
	case lock.Acquire:
		return p.scanning()
	case lock.Verify:
		m.Slot = m.Held
		if p.Options.Verify != VerifySlot {
			return Reclaiming
		}
		return Checking
	case lock.Release:
		// From here on the client no longer believes that it holds the slot.
		m.Slot, m.Held = m.Held, 0
		return p.relinquishing()
	case lock.Count:
		return Measuring
	case lock.Wait:
		return Polling
	case lock.Create, lock.Add, lock.Remove, lock.Destroy:
		if p.Options.AdminMutex {
			return p.claiming(MutexProbing, MutexClaiming)
		}
		return p.administering(m)
	}
	panic("lock: no such operation: " + m.Op.String())
}

// enter begins a phase's batch.
func (p *Protocol) enter(m *Machine, phase Phase) {
	m.Phase, m.Answered, m.Seen = phase, 0, 0
}

// finish ends the operation, after it has returned the administration mutex.
func (p *Protocol) finish(m *Machine, r lock.Result) {
	m.Result = r
	if m.Mutex {
		p.enter(m, MutexReleasing)
		return
	}
	p.enter(m, NoPhase)
}

// Choices implements [Implementation].
func (p *Protocol) Choices(m *Machine) int {
	switch m.Phase {
	case ChoosingSlot:
		if p.Options.Restart == RestartAny {
			return p.slots()
		}
		return int(m.Slot)
	case ChoosingJitter:
		return p.Options.Jitter + 1
	}
	return 0
}

// Choose implements [Implementation].
func (p *Protocol) Choose(m *Machine, i int) {
	if m.Phase == ChoosingSlot {
		m.Slot = uint8(i + 1)
		p.jitter(m)
		return
	}
	m.Sleep = uint8(i)
	p.enter(m, p.scanning())
}

// Next implements [Implementation].
func (p *Protocol) Next(m *Machine) (cmd amqp.Command) {
	p.command(m, int(m.Answered), &cmd)
	cmd.Pipelined = m.Answered > 0
	return cmd
}

// Pending implements [Implementation].
func (p *Protocol) Pending(m *Machine) int { return p.size(m) - int(m.Answered) }

// Apply implements [Implementation].
func (p *Protocol) Apply(m *Machine, r amqp.Reply) {
	switch r.Kind {
	case amqp.ConnectionClosed, amqp.Lost:
		p.disconnected(m, r)
		return
	case amqp.ChannelClosed:
		m.Link = ChannelDown
		p.channelClosed(m, r.Code)
		return
	}
	p.note(m, r)
	m.Answered++
	if int(m.Answered) == p.size(m) {
		steps[m.Phase].decide(p, m)
	}
}

// note records the meaning of a reply in Seen.
func (p *Protocol) note(m *Machine, r amqp.Reply) {
	if m.mending() {
		return
	}
	lead, i := p.lead(m), int(m.Answered)
	if i < lead {
		m.Seen |= 1 << i
		return
	}
	if probe, part := p.part(i - lead); part == p.probeWidth()-1 && p.found(r) {
		m.Seen |= 1 << (lead + probe)
	}
}

// seen is the result of the i-th item of the batch: plain commands first, then probes.
func (m *Machine) seen(i int) bool { return m.Seen&(1<<i) != 0 }
