// Package protocol is a lock of one's own, as a researcher tries an idea: the reference semaphore, with an acquire that
// begins at a random slot and goes downward. README.md tells what comes of it.
package protocol

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Downward is the reference with another acquire. It begins at one of the first slots, at random, and goes downward. If it
// Wraps, it goes on from the last of them until it has looked at each.
type Downward struct {
	*amqplock.Protocol
	Slots int // how many its clients take to be there
	Wraps bool
}

// Start implements [amqplock.Implementation]: an acquire begins with a choice.
func (d Downward) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	d.Protocol.Start(m, op, arg)
	switch {
	case op != lock.Acquire:
	case m.Link == amqplock.Up:
		m.Phase = amqplock.ChoosingSlot
	default: // the connection is opened first
		m.Then = amqplock.ChoosingSlot
	}
}

// Choices implements [amqplock.Implementation].
func (d Downward) Choices(m *amqplock.Machine) int {
	if m.Phase == amqplock.ChoosingSlot {
		return d.Slots
	}
	return d.Protocol.Choices(m)
}

// Choose implements [amqplock.Implementation]. Top is where the acquire began.
func (d Downward) Choose(m *amqplock.Machine, i int) {
	m.Slot, m.Top = uint8(i+1), uint8(i+1)
	m.Phase = amqplock.ScanningA
}

// Apply implements [amqplock.Implementation]: where the reference goes upward or gives up, this goes downward.
func (d Downward) Apply(m *amqplock.Machine, r amqp.Reply) {
	slot, looking := m.Slot, m.Phase == amqplock.ScanningA || m.Phase == amqplock.ScanningB
	d.Protocol.Apply(m, r)
	upward := m.Phase == amqplock.ScanningA && m.Slot > slot
	full := m.Done() && m.Result.Reason == lock.Full
	if !looking || !upward && !full {
		return
	}
	m.Phase, m.Result, m.Answered, m.Seen = amqplock.ScanningA, lock.Result{}, 0, 0
	if m.Slot = slot - 1; m.Slot == 0 && d.Wraps {
		m.Slot = uint8(d.Slots)
	}
	if m.Slot == 0 || d.Wraps && m.Slot == m.Top {
		m.Phase, m.Result = amqplock.NoPhase, lock.Result{Outcome: lock.Failed, Reason: lock.Full}
	}
}
