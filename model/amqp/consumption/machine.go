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
	// Then is the phase that follows a repair of the link; NoPhase means that the operation then ends with Result.
	Then Phase

	Link    amqplock.Link
	Channel uint8
	Mode    mode // the channel's mode: plain, confirms or transactions
	Held    uint8
	Tag     uint16 // delivery tag of the token that the client holds or returns; 0 is none
	// Consuming says that the client believes its channel has a consumer.
	Consuming bool
	// Spare is the delivery tag of a token that arrived after the client stopped waiting for one, and SpareSlot the
	// slot of that token; 0 is none.
	Spare     uint16
	SpareSlot uint8
	Mutex     bool // the client holds the administration mutex

	Arg     uint8
	Slot    uint8  // the slot that the operation acquires, verifies or releases; 1 until it is known
	Top     uint8  // number of slots, as measured by an administrative operation
	Want    uint8  // number of tokens that the operation has to add or remove
	Count   uint8  // number of tokens that the operation has added or removed so far
	Last    uint16 // delivery tag of the last token that the operation has taken for removal
	Tries   uint8
	Repairs uint8

	Result lock.Result
}

// mode is a channel's mode: without confirms, with confirms, or transactional.
type mode uint8

const (
	plain mode = iota
	confirming
	transacting
)

// Idle reports whether no operation is under way.
func (m *Machine) Idle() bool { return m.Phase == NoPhase }

// Done reports whether the operation that was started is complete; Result has its result.
func (m *Machine) Done() bool { return m.Phase == NoPhase && m.Result.Outcome != lock.Pending }

// Rest is the machine without the fields that only matter during an operation.
func (m *Machine) Rest() Machine {
	return Machine{
		Link: m.Link, Channel: m.Channel, Mode: m.Mode, Held: m.Held, Tag: m.Tag, Consuming: m.Consuming,
		Spare: m.Spare, SpareSlot: m.SpareSlot, Mutex: m.Mutex,
	}
}

// Code encodes a machine, or decodes it if c reads.
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

// Protocol is one lock's type, settings and queue names. It is immutable, and any number of machines may share it.
type Protocol struct {
	Kind     lock.Kind
	Settings Settings
	Layout   Layout
}

// Layout has the queues of one lock, by their numbers in an amqp.Names.
type Layout struct {
	Lock    amqp.Queue // the queue that the holder consumes, or that has the tokens
	Account amqp.Queue // the queue with a message for each slot
	Admin   amqp.Queue // the administration mutex
}

// NewLayout interns the names of a lock's queues: N-lock, N-slots and N-admin for the lock N. The end of a name tells
// the queue's purpose, so that no two queues have the same name.
func NewLayout(names *amqp.Names, name string) Layout {
	return Layout{Lock: names.Intern(name + "-lock"), Account: names.Intern(name + "-slots"), Admin: names.Intern(name + "-admin")}
}

// Consumer is the number of a client's consumer. A client has at most one consumer on its channel.
const Consumer = 1

// Start begins an operation on an idle machine. arg is the number of slots, or the slot for wait, as in
// amqplock.Implementation.
func (p *Protocol) Start(m *Machine, op lock.Op, arg uint8) {
	rest := m.Rest()
	rest.Op, rest.Arg, rest.Slot = op, arg, 1
	*m = rest
	if op == lock.Release { // from here on the client does not believe that it holds the lock
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

// first is the phase with which the current operation begins, and begins again after some faults.
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

// Waits reports whether the machine sends nothing until a delivery arrives or it gives up.
func (m *Machine) Waits() bool { return m.Phase == Waiting }

// Next is the next command to send. The machine must neither be done nor wait for a delivery.
func (p *Protocol) Next(m *Machine) amqp.Command {
	cmd := amqp.Command{Method: p.lacking(m)}
	if cmd.Method == amqp.NoMethod {
		cmd = steps[m.Phase].command(p, m)
	}
	cmd.Channel = uint16(m.Channel)
	return cmd
}

// lacking is confirm.select or tx.select if the channel needs that mode before the current command, otherwise NoMethod.
func (p *Protocol) lacking(m *Machine) amqp.Method {
	switch want := p.mode(m.Phase); {
	case want == plain, want == m.Mode:
		return amqp.NoMethod
	case want == transacting:
		return amqp.TxSelect
	}
	return amqp.ConfirmSelect
}

// mode is the channel mode that a phase needs.
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

// Apply hands the machine the reply to the command that Next returned. slot is the slot of the token or mutex that the
// command was granted; 0 is none.
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

// enter makes the machine continue with a phase.
func (p *Protocol) enter(m *Machine, phase Phase) { m.Phase = phase }

// finish ends the operation with result r. The machine first reopens its link and returns the administration mutex, if
// necessary.
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

// full ends an acquire that found the lock taken or missing. It fails with reason full.
func (p *Protocol) full(m *Machine) {
	p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
}

// Take hands the machine a delivery to its consumer: a token, with the slot that it stands for, or a basic.cancel.
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

// cancelled handles the end of the machine's consumer: the queue is gone.
func (p *Protocol) cancelled(m *Machine) {
	m.Consuming = false
	switch {
	case p.Kind != lock.Semaphore:
		m.Held = 0
	case m.Phase == Waiting:
		p.full(m)
	}
}

// GiveUp ends a client's wait for a token. Its consumer is cancelled, unless the option Standing keeps it.
func (p *Protocol) GiveUp(m *Machine) {
	if p.Settings.Standing {
		p.full(m)
		return
	}
	p.enter(m, Cancelling)
}
