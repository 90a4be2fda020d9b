package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Link is what a client knows of its connection.
type Link uint8

// The states of a link. Up has an open channel as well.
const (
	Down Link = iota
	ChannelDown
	Up
)

// Machine is one client of one lock. It is a plain value: copying it forks the client. Its fields
// are for reading, and for variants that break one of its rules on purpose; everyone else drives it
// through an [Implementation].
type Machine struct {
	Op    lock.Op
	Phase Phase
	// Then is the phase after a repair of the link. Decided says that the phase has its replies already, so that only
	// its decision is left.
	Then    Phase
	Decided bool

	Link    Link
	Channel uint8 // the channel number it works on
	Held    uint8 // the slot it believes to hold; 0 is none
	Mutex   bool  // it holds the administration mutex

	Arg  uint8 // the operation's argument: a number of slots, or a slot
	Slot uint8 // the slot at hand: L of the guidelines
	Last uint8 // where a run over A queues ends
	Top  uint8 // the number of slots it determined: C of the guidelines

	Tries    uint8 // attempts lost so far
	Repairs  uint8 // times the link was repaired without being asked to
	Sleep    uint8 // milliseconds to let pass before the next command
	Answered uint8 // replies received of the batch at hand
	// Seen has a bit for each reply of the batch: a declare that succeeded, a probe that found
	// a queue.
	Seen uint32

	Result lock.Result
}

// Idle reports whether no operation is under way.
func (m *Machine) Idle() bool { return m.Phase == NoPhase }

// Done reports whether the operation that was started is over; its result is in Result.
func (m *Machine) Done() bool { return m.Phase == NoPhase && m.Result.Outcome != lock.Pending }

// Implementation is a lock as the harness runs it: the reference, or a variant with a bug. It keeps
// no state of its own; all of it is in the machine.
type Implementation interface {
	// Start begins an operation on an idle machine. arg is the number of slots of create, add and remove, at least 1,
	// and the slot of wait. Connect always ends ok; the link has its result.
	Start(m *Machine, op lock.Op, arg uint8)
	// Choices is how many ways a random option leaves open now, or 0 when the machine wants
	// a command instead. Choose takes one of them, counted from 0.
	Choices(m *Machine) int
	Choose(m *Machine, i int)
	// Next is the command it wants written next; the machine is neither done nor choosing.
	Next(m *Machine) amqp.Command
	// Pending is how many commands, Next the first of them, may be written before their replies
	// are read. They travel on one channel, in order.
	Pending(m *Machine) int
	// Apply hands it the reply to the command that Next gave.
	Apply(m *Machine, r amqp.Reply)
}

// Protocol is the reference: one lock's type, options and queue names. It is immutable and may be
// shared by any number of machines.
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

// first is the phase an operation begins with.
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
		// From here on the client does not believe that it holds the slot.
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

// finish ends the operation, giving the administration mutex back first.
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

// note records what a reply says in Seen.
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
