package gate

import "maps"

// Counts is what went over clients' connections. In is what clients sent, Out is what they received.
type Counts struct {
	Opened     int // number of connections
	RoundTrips int // number of times a client began to wait for a reply
	In, Out    Traffic
	Heartbeats int // number of heartbeats of clients
	// Commands are the numbers of commands sent, by kind, without those that open and close connections.
	Commands map[string]int
}

// Traffic is an amount of a protocol's frames, in bytes with their overhead.
type Traffic struct{ Frames, Bytes int }

// Add adds another amount, multiplied by times.
func (t *Traffic) Add(o Traffic, times int) {
	t.Frames += times * o.Frames
	t.Bytes += times * o.Bytes
}

// Add adds other counts.
func (c *Counts) Add(o *Counts) { c.add(o, 1) }

// Less subtracts o.
func (c *Counts) Less(o *Counts) { c.add(o, -1) }

func (c *Counts) add(o *Counts, times int) {
	c.Opened += times * o.Opened
	c.RoundTrips += times * o.RoundTrips
	c.Heartbeats += times * o.Heartbeats
	c.In.Add(o.In, times)
	c.Out.Add(o.Out, times)
	if len(o.Commands) == 0 {
		return
	}
	c.Commands = maps.Clone(c.Commands)
	if c.Commands == nil {
		c.Commands = make(map[string]int, len(o.Commands))
	}
	for name, n := range o.Commands {
		if c.Commands[name] += times * n; c.Commands[name] == 0 {
			delete(c.Commands, name)
		}
	}
}
