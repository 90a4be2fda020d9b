// Package protocol is an example of a user's own lock: the reference semaphore with another acquire, which begins at
// a random slot and goes downward. README.md shows the results.
package protocol

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Downward is the reference semaphore with another acquire. It begins at a random slot, and goes downward. If Wraps
// is set, it continues at the highest slot until it has looked at every slot.
type Downward struct {
	*amqplock.Protocol
	Slots int // how many its clients take to be there
	Wraps bool
}

// Start implements [amqplock.Implementation]. An acquire begins with the choice of a slot.
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

// Choose implements [amqplock.Implementation]. The machine's Top is the slot at which the acquire begins.
func (d Downward) Choose(m *amqplock.Machine, i int) {
	m.Slot, m.Top = uint8(i+1), uint8(i+1)
	m.Phase = amqplock.ScanningA
}

// Apply implements [amqplock.Implementation]. Where the reference goes on to a higher slot or gives up, this goes on
// to a lower slot.
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
