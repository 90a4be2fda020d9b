package amqplock

import "github.com/lockproof/lockproof/model/codec"

// Code encodes a machine, or decodes it if c reads.
func (m *Machine) Code(c *codec.Coder) {
	codec.Byte(c, &m.Op)
	codec.Byte(c, &m.Phase)
	codec.Byte(c, &m.Then)
	codec.Byte(c, &m.Link)
	codec.Byte(c, &m.Channel)
	codec.Byte(c, &m.Held)
	codec.Byte(c, &m.Arg)
	codec.Byte(c, &m.Slot)
	codec.Byte(c, &m.Last)
	codec.Byte(c, &m.Top)
	codec.Byte(c, &m.Tries)
	codec.Byte(c, &m.Repairs)
	codec.Byte(c, &m.Sleep)
	codec.Byte(c, &m.Answered)
	codec.Number(c, &m.Seen)
	codec.Bools(c, &m.Decided, &m.Mutex, &m.Result.Held)
	codec.Byte(c, &m.Result.Outcome)
	codec.Byte(c, &m.Result.Reason)
	codec.Byte(c, &m.Result.Slot)
	codec.Byte(c, &m.Result.Slots)
}
