package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
)

// Machine is one client of one lock. It is a plain value: copying it forks the client. Its fields are for reading;
// a [Protocol] drives it.
type Machine struct {
	Op    lock.Op
	Phase Phase
	// Then is the phase that a repair of the link leads back to; NoPhase ends the operation with the result that it has.
	Then Phase

	Link    amqplock.Link
	Channel uint8
	Mode    mode // of its channel
	Held    uint8
	Tag     uint16 // by which the token is acknowledged that it holds, or gives back
	// Consuming says that its channel has a consumer, as far as it knows.
	Consuming bool
	// Spare is the tag of a token that came while it wanted none, and SpareSlot its number; 0 is none.
	Spare     uint16
	SpareSlot uint8
	Mutex     bool // it has the administration mutex

	Arg     uint8
	Slot    uint8  // the slot at hand
	Top     uint8  // how many slots there are
	Want    uint8  // how many tokens are to be made, or taken away
	Count   uint8  // how many of them are
	Last    uint16 // the tag of the last message that was collected
	Tries   uint8
	Repairs uint8

	Result lock.Result
}

// mode is what a channel was put into.
type mode uint8

const (
	plain mode = iota
	confirming
	transacting
)

// Idle reports whether no operation is under way.
func (m *Machine) Idle() bool { return m.Phase == NoPhase }

// Done reports whether the operation that was started is over; its result is in Result.
func (m *Machine) Done() bool { return m.Phase == NoPhase && m.Result.Outcome != lock.Pending }

// Rest is the machine between two operations, without what only the last one needed.
func (m *Machine) Rest() Machine {
	return Machine{
		Link: m.Link, Channel: m.Channel, Mode: m.Mode, Held: m.Held, Tag: m.Tag, Consuming: m.Consuming,
		Spare: m.Spare, SpareSlot: m.SpareSlot, Mutex: m.Mutex,
	}
}

// Code writes or reads a machine.
func (m *Machine) Code(c *codec.Coder) {
	codec.Byte(c, &m.Op)
	codec.Byte(c, &m.Phase)
	codec.Byte(c, &m.Then)
	codec.Byte(c, &m.Link)
	codec.Byte(c, &m.Channel)
	codec.Byte(c, &m.Mode)
	codec.Byte(c, &m.Held)
	codec.Number(c, &m.Tag)
	codec.Number(c, &m.Spare)
	codec.Byte(c, &m.SpareSlot)
	codec.Bools(c, &m.Consuming, &m.Mutex, &m.Result.Held)
	codec.Byte(c, &m.Arg)
	codec.Byte(c, &m.Slot)
	codec.Byte(c, &m.Top)
	codec.Byte(c, &m.Want)
	codec.Byte(c, &m.Count)
	codec.Number(c, &m.Last)
	codec.Byte(c, &m.Tries)
	codec.Byte(c, &m.Repairs)
	codec.Byte(c, &m.Result.Outcome)
	codec.Byte(c, &m.Result.Reason)
	codec.Byte(c, &m.Result.Slot)
	codec.Byte(c, &m.Result.Slots)
}

// Protocol is one lock's type, settings and queue names. It is immutable and may be shared by any number of machines.
type Protocol struct {
	Kind     lock.Kind
	Settings Settings
	Layout   Layout
}

// Layout is the queues of one lock, interned.
type Layout struct {
	Lock    amqp.Queue // consumed by the holder, or with the tokens
	Account amqp.Queue // with a message for each slot
	Admin   amqp.Queue // the administration mutex
}

// NewLayout interns the names of a lock's queues: N-lock, N-slots and N-admin. Read from its end, no name has two meanings.
func NewLayout(names *amqp.Names, name string) Layout {
	return Layout{Lock: names.Intern(name + "-lock"), Account: names.Intern(name + "-slots"), Admin: names.Intern(name + "-admin")}
}

// Consumer is the number of a client's consumer on its channel.
const Consumer = 1

// Start begins an operation on an idle machine. arg is that of [lock.Implementation].
func (p *Protocol) Start(m *Machine, op lock.Op, arg uint8) {
	rest := m.Rest()
	rest.Op, rest.Arg, rest.Slot = op, arg, 1
	*m = rest
	if op == lock.Release { // from here on the client does not believe that it holds anything
		m.Slot, m.Held = m.Held, 0
	}
	switch {
	case op == lock.Connect:
		m.Result.Outcome = lock.Done
		p.repair(m, NoPhase)
	case op == lock.Verify && p.Settings.Verify == ByBelief:
		p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Held})
	case m.Link != amqplock.Up:
		p.repair(m, p.first(m))
	default:
		p.enter(m, p.first(m))
	}
}

// first is the phase that an operation begins with, or begins with again.
func (p *Protocol) first(m *Machine) Phase {
	tokens := p.Kind == lock.Semaphore
	accounted := tokens && p.Settings.Admin == Accounted
	switch m.Op {
	case lock.Acquire:
		return p.acquiring(m)
	case lock.Verify:
		m.Slot = m.Held
		return Checking
	case lock.Release:
		return p.releasing()
	case lock.Wait:
		return Polling
	}
	m.Count, m.Last = 0, 0
	switch {
	case accounted && !m.Mutex && (m.Op != lock.Count || p.Settings.CountMutex):
		return Claiming
	case m.Op == lock.Count:
		return Counting
	case m.Op == lock.Destroy && !accounted:
		return Deleting
	}
	return Making
}

// Waits reports whether the machine sends nothing until something comes that it was not asked for, or until it gives up.
func (m *Machine) Waits() bool { return m.Phase == Waiting }

// Next is the command it wants sent next; the machine is neither done nor waiting.
func (p *Protocol) Next(m *Machine) amqp.Command {
	cmd := amqp.Command{Method: p.lacking(m)}
	if cmd.Method == amqp.NoMethod {
		cmd = steps[m.Phase].command(p, m)
	}
	cmd.Channel = uint16(m.Channel)
	return cmd
}

// lacking is the command that sets the channel's mode before the current command.
func (p *Protocol) lacking(m *Machine) amqp.Method {
	switch want := p.mode(m.Phase); {
	case want == plain, want == m.Mode:
		return amqp.NoMethod
	case want == transacting:
		return amqp.TxSelect
	}
	return amqp.ConfirmSelect
}

// mode is the mode of the channel that a phase needs.
func (p *Protocol) mode(phase Phase) mode {
	accounted := p.Settings.Admin == Accounted
	switch {
	case phase == Publishing && p.Settings.Release == Transaction, accounted && (phase == Growing || phase == AckingAll):
		return transacting
	case phase == Publishing, phase == Growing:
		return confirming
	}
	return plain
}

// Apply hands the machine the reply to the command that Next gave, and the number of the slot that it was granted by it.
func (p *Protocol) Apply(m *Machine, r amqp.Reply, slot uint8) {
	switch r.Kind {
	case amqp.ConnectionClosed, amqp.Lost:
		p.disconnected(m, r.Kind)
		return
	case amqp.ChannelClosed:
		p.channelClosed(m, r.Code)
		return
	}
	switch p.lacking(m) {
	case amqp.TxSelect:
		m.Mode = transacting
		return
	case amqp.ConfirmSelect:
		m.Mode = confirming
		return
	}
	if slot > 0 {
		m.Slot = slot
	}
	steps[m.Phase].decide(p, m, r)
}

// enter goes on with a phase.
func (p *Protocol) enter(m *Machine, phase Phase) { m.Phase = phase }

// finish ends the operation, giving the administration mutex back first.
func (p *Protocol) finish(m *Machine, r lock.Result) {
	m.Result = r
	switch {
	case m.Link != amqplock.Up:
		p.repair(m, NoPhase)
	case m.Mutex:
		p.enter(m, Unclaiming)
	default:
		p.enter(m, NoPhase)
	}
}

// held ends an acquire with success.
func (p *Protocol) held(m *Machine) {
	m.Held = m.Slot
	p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// full ends an acquire that found the lock taken, or not there.
func (p *Protocol) full(m *Machine) {
	p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
}

// Take hands the machine what its consumer was sent: a token, under the number of the slot that it is, or the news that
// there will be none.
func (p *Protocol) Take(m *Machine, d amqp.Delivery, slot uint8) {
	switch {
	case d.Cancelled:
		p.cancelled(m)
	case m.Phase == Waiting:
		m.Tag, m.Slot = uint16(d.Tag), slot
		p.got(m)
	case m.Phase == Cancelling && m.Tag == 0:
		m.Tag, m.Slot = uint16(d.Tag), slot
	case m.Spare == 0:
		m.Spare, m.SpareSlot = uint16(d.Tag), slot
	}
}

// cancelled is the end of its consumer, as the queue is gone.
func (p *Protocol) cancelled(m *Machine) {
	m.Consuming = false
	switch {
	case p.Kind != lock.Semaphore:
		m.Held = 0
	case m.Phase == Waiting:
		p.full(m)
	}
}

// GiveUp is the end of a waiting client's patience.
func (p *Protocol) GiveUp(m *Machine) {
	if p.Settings.Standing {
		p.full(m)
		return
	}
	p.enter(m, Cancelling)
}
