package wire

import (
	"iter"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Counts is what went over the wire. In is what clients sent, Out is what they received.
type Counts struct {
	Opened, Closed                 int // connections that received an open-ok, and those of them that ended
	ChannelsOpened, ChannelsClosed int // by an open-ok and a close-ok, not by the end of a connection
	// RoundTrips is how often a client began to wait: it sent a command and waited for the reply, and was not waiting for
	// another. Round trips of the login are not counted.
	RoundTrips    int
	In, Out       Traffic // including protocol headers and heartbeats
	HeartbeatsIn  int
	HeartbeatsOut int
	Methods       [len(frame.IDs)]MethodCounts // by [frame.ID.Index]
}

// Traffic is an amount of frames, in bytes with their overhead.
type Traffic struct{ Frames, Bytes int }

// MethodCounts is how often a method was sent, and its size including content.
type MethodCounts struct {
	Received, Sent int // from clients, and by the broker
	In, Out        Traffic
}

func (t *Traffic) add(frames, bytes int) { t.Frames += frames; t.Bytes += bytes }

// Add adds other counts.
func (c *Counts) Add(o *Counts) {
	c.Opened += o.Opened
	c.Closed += o.Closed
	c.ChannelsOpened += o.ChannelsOpened
	c.ChannelsClosed += o.ChannelsClosed
	c.RoundTrips += o.RoundTrips
	c.In.add(o.In.Frames, o.In.Bytes)
	c.Out.add(o.Out.Frames, o.Out.Bytes)
	c.HeartbeatsIn += o.HeartbeatsIn
	c.HeartbeatsOut += o.HeartbeatsOut
	for i := range c.Methods {
		c.Methods[i].Sent += o.Methods[i].Sent
		c.Methods[i].Received += o.Methods[i].Received
		c.Methods[i].Out.add(o.Methods[i].Out.Frames, o.Methods[i].Out.Bytes)
		c.Methods[i].In.add(o.Methods[i].In.Frames, o.Methods[i].In.Bytes)
	}
}

// Less subtracts o.
func (c *Counts) Less(o *Counts) {
	c.Opened -= o.Opened
	c.Closed -= o.Closed
	c.ChannelsOpened -= o.ChannelsOpened
	c.ChannelsClosed -= o.ChannelsClosed
	c.RoundTrips -= o.RoundTrips
	c.In.add(-o.In.Frames, -o.In.Bytes)
	c.Out.add(-o.Out.Frames, -o.Out.Bytes)
	c.HeartbeatsIn -= o.HeartbeatsIn
	c.HeartbeatsOut -= o.HeartbeatsOut
	for i := range c.Methods {
		c.Methods[i].Sent -= o.Methods[i].Sent
		c.Methods[i].Received -= o.Methods[i].Received
		c.Methods[i].Out.add(-o.Methods[i].Out.Frames, -o.Methods[i].Out.Bytes)
		c.Methods[i].In.add(-o.Methods[i].In.Frames, -o.Methods[i].In.Bytes)
	}
}

// Method is the counts of one method.
func (c *Counts) Method(id frame.ID) MethodCounts { return c.Methods[id.Index()] }

// Used are the methods that clients have sent, in the order of the definition.
func (c *Counts) Used() iter.Seq2[frame.ID, MethodCounts] {
	return func(yield func(frame.ID, MethodCounts) bool) {
		for i, m := range c.Methods {
			if m.Received > 0 && !yield(frame.IDs[i], m) {
				return
			}
		}
	}
}

// received counts a message from the client.
func (c *Counts) received(m *Message) {
	count := &c.Methods[m.Method.ID().Index()]
	count.Received++
	count.In.add(m.Frames, m.Bytes)
	if m.Method.ID() == frame.ChannelCloseOkID {
		c.ChannelsClosed++
	}
}

// sent counts a message to the client.
func (c *Counts) sent(m *Message) {
	count := &c.Methods[m.Method.ID().Index()]
	count.Sent++
	count.Out.add(m.Frames, m.Bytes)
	c.Out.add(m.Frames, m.Bytes)
	switch m.Method.ID() {
	case frame.ConnectionOpenOkID:
		c.Opened++
	case frame.ChannelOpenOkID:
		c.ChannelsOpened++
	case frame.ChannelCloseOkID:
		c.ChannelsClosed++
	}
}
