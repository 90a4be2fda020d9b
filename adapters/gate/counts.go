package gate

import "maps"

// Counts counts what was transmitted over clients' connections. In is what clients sent, Out is what they received.
type Counts struct {
	Opened     int // number of connections
	RoundTrips int // number of times that a client began to wait for a reply
	In, Out    Traffic
	Heartbeats int // number of heartbeats that clients have sent
	// Commands are the numbers of commands sent, by kind, such as SET. Commands that open and close connections are
	// not included.
	Commands map[string]int
}

// Traffic is a number of protocol frames, and their bytes including overhead.
type Traffic struct{ Frames, Bytes int }

// Add adds o to t, multiplied by times.
func (t *Traffic) Add(o Traffic, times int) {
	t.Frames += times * o.Frames
	t.Bytes += times * o.Bytes
}

// Add adds the counts o to c.
func (c *Counts) Add(o *Counts) { c.add(o, 1) }

// Less subtracts the counts o from c.
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
