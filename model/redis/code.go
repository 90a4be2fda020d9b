package redis

import (
	"github.com/lockproof/lockproof/model/codec"
)

// Code encodes a machine, or decodes it if c reads. now is the time of the client's clock. back is how far a fault may
// still set that clock back. Times are stored relative to now. A time that is more than back in the past is stored as
// now minus back.
func (m *Machine) Code(c *codec.Coder, now, back int64) {
	codec.Byte(c, &m.Op)
	codec.Byte(c, &m.Phase)
	codec.Byte(c, &m.Result.Outcome)
	codec.Byte(c, &m.Result.Reason)
	codec.Byte(c, &m.Result.Slot)
	codec.Byte(c, &m.failure.Outcome)
	codec.Byte(c, &m.failure.Reason)
	codec.Bools(c, &m.Held, &m.Stopping, &m.Doomed, &m.lost, &m.Result.Held)
	codec.Number(c, &m.ID)
	codec.Byte(c, &m.Priority)
	codec.Byte(c, &m.node)
	codec.Byte(c, &m.got)
	codec.Number(c, &m.Unsettled)
	codeMoment(c, &m.Until, now, back, m.Held || m.Phase == Stealing || m.Phase == Waiting)
	codeMoment(c, &m.Deadline, now, back, m.Phase == Waiting)
	age := now - m.began
	if m.Phase != Stealing && m.Phase != Extending {
		age = 0
	}
	codec.Number(c, &age)
	m.began = now - age
	for _, ids := range [...]*[]ID{&m.Victims, &m.Owed, &m.Settled} {
		*ids = codeIDs(c, *ids)
	}
}

// codeMoment encodes or decodes a time relative to now. If matters is false, the time makes no difference, so that all
// such times are stored as 0.
func codeMoment(c *codec.Coder, at *int64, now, back int64, matters bool) {
	left := max(0, *at-now+back)
	if !matters {
		left = 0
	}
	codec.Number(c, &left)
	*at = now + left - back
}

// Code encodes a message, or decodes it if c reads.
func (m *Message) Code(c *codec.Coder) {
	codec.Bool(c, &m.Ack)
	codec.Number(c, &m.From)
	codec.Number(c, &m.To)
}

func codeIDs(c *codec.Coder, ids []ID) []ID {
	n := codec.Length(c, len(ids))
	if c.Reading() {
		ids = nil
		if n > 0 {
			ids = make([]ID, n)
		}
	}
	for i := range ids {
		codec.Number(c, &ids[i])
	}
	return ids
}

// Normalise clears the fields of an idle machine that its later operations do not read, so that equal states are
// merged.
func (m *Machine) Normalise() {
	idle := Machine{ID: m.ID, Unsettled: m.Unsettled, Held: m.Held, Stopping: m.Stopping}
	if m.Held {
		idle.Priority, idle.Until, idle.Settled = m.Priority, m.Until, m.Settled
	}
	*m = idle
}
