package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Link is the state of a client's connection and channel, as the client knows it.
type Link uint8

// The states of a link: no connection, a connection without a channel, and both open.
const (
	Down Link = iota
	ChannelDown
	Up
)

// Machine is one client of one lock. It is a plain value: copying it forks the client. Other code reads its fields and
// drives it through an [Implementation]. Only mutants and custom protocols change its fields.
type Machine struct {
	Op    lock.Op
	Phase Phase
	// Then is the phase that follows a repair of the link. Decided says that the machine already has all replies of
	// that phase, so that only the phase's function decide is left to call.
	Then    Phase
	Decided bool

	Link    Link
	Channel uint8 // number of the client's channel on the connection
	Held    uint8 // the slot that the client believes it holds; 0 is none
	Mutex   bool  // the client holds the administration mutex

	Arg  uint8 // the operation's argument: a number of slots, or a slot
	Slot uint8 // the current slot: L of the guidelines
	Last uint8 // the slot at which a loop over A queues ends
	Top  uint8 // the number of slots as measured: C of the guidelines

	Tries    uint8 // failed attempts of the operation so far
	Repairs  uint8 // number of repairs of a channel that broke although no command was wrong
	Sleep    uint8 // milliseconds to wait before the next command
	Answered uint8 // number of replies received for the current batch
	// Seen has a bit for each command of the batch that succeeded, or probe that found a queue. Bit 0 is the first.
	Seen uint32

	Result lock.Result
}

// Idle reports whether no operation is under way.
func (m *Machine) Idle() bool { return m.Phase == NoPhase }

// Done reports whether the operation that was started is complete; Result has its result.
func (m *Machine) Done() bool { return m.Phase == NoPhase && m.Result.Outcome != lock.Pending }

// Implementation drives the machines of one lock: the reference, or a variant with a bug. It has no state of its own;
// the machine has all state.
type Implementation interface {
	// Start begins an operation on an idle machine. arg is the number of slots, at least 1, for create, add and remove,
	// and the slot for wait. A connect always ends with outcome ok: the machine's Link says whether it is connected.
	Start(m *Machine, op lock.Op, arg uint8)
	// Choices is the number of values from which the machine now chooses at random, or 0 if it sends a command instead.
	// Choose takes value number i, counted from 0.
	Choices(m *Machine) int
	Choose(m *Machine, i int)
	// Next is the next command to send. The machine must neither be done nor have a choice to make.
	Next(m *Machine) amqp.Command
	// Pending is the number of commands, starting with Next, that may be sent before their replies are read. They are
	// sent on one channel, in order.
	Pending(m *Machine) int
	// Apply hands the machine the reply to the command that Next returned.
	Apply(m *Machine, r amqp.Reply)
}

// Protocol is the reference implementation for one lock: its type, options and queue names. It is immutable, and any
// number of machines may share it.
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

// first is the phase with which the current operation begins.
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

// enter begins a phase with its first command.
func (p *Protocol) enter(m *Machine, phase Phase) {
	m.Phase, m.Answered, m.Seen = phase, 0, 0
}

// finish ends the operation with result r. If the machine holds the administration mutex, it returns this first.
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

// note handles the reply r to the current command. It sets the command's bit in Seen. For a probe it sets the probe's
// bit, and only if the probe found a queue.
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

// seen reports whether the i-th bit of Seen is set. In a batch, plain commands come first, then probes.
func (m *Machine) seen(i int) bool { return m.Seen&(1<<i) != 0 }
