package wire

import (
	"iter"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Counts is the traffic of a connection or server. In counts what clients sent, Out what they received.
type Counts struct {
	Opened, Closed                 int // connections that received an open-ok, and how many of them have ended
	ChannelsOpened, ChannelsClosed int // by open-ok and close-ok, not by the end of a connection
	// RoundTrips counts how often a client had to wait: it sent a command that has a reply, and was not already waiting
	// for another reply. The login is not counted.
	RoundTrips    int
	In, Out       Traffic // including protocol headers and heartbeats
	HeartbeatsIn  int
	HeartbeatsOut int
	Methods       [len(frame.IDs)]MethodCounts // indexed by [frame.ID.Index]
}

// Traffic is a number of frames and their bytes, including the overhead of frames.
type Traffic struct{ Frames, Bytes int }

// MethodCounts is how often a method was sent, and how many bytes that took with content.
type MethodCounts struct {
	Received, Sent int // numbers of messages: Received by the server from clients, Sent by the server to clients
	In, Out        Traffic
}

func (t *Traffic) add(frames, bytes int) { t.Frames += frames; t.Bytes += bytes }

// Add adds o to the counts.
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

// Less subtracts o from the counts.
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

// Used are the methods that clients have sent, with their counts, in the order of the protocol definition.
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
