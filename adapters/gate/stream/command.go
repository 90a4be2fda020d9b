package stream

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// Command is a command at the gate.
type Command struct {
	Sent
	conn      *Conn
	number    uint64
	bytes     []byte
	pipelined bool
	gated     bool // it did not pass by itself
	passed    bool

	// The connection's mu guards these fields.
	answered bool
	waits    bool // at the server
}

var _ gate.Command = (*Command)(nil)

// join takes in what the client has written since. The connection's mu is held.
func (c *Command) join(bytes []byte) {
	c.bytes = append(c.bytes, bytes...)
	c.Sent.Words = c.conn.address.proxy.protocol.(Unknown).Shown(c.bytes)
}

// Conn is its connection.
func (c *Command) Conn() gate.Conn { return c.conn }

// Endpoint is the server that it goes to.
func (c *Command) Endpoint() int { return c.conn.address.proxy.place }

// Number counts the connection's commands.
func (c *Command) Number() uint64 { return c.number }

// Role is what it does to its connection.
func (c *Command) Role() gate.Role { return c.Sent.Role }

// Pipelined reports whether it was sent while another had no reply.
func (c *Command) Pipelined() bool { return c.pipelined }

// Replies reports whether the server answers it.
func (c *Command) Replies() bool { return c.Sent.Replies }

// MayChange reports whether it may change something.
func (c *Command) MayChange() bool { return c.Sent.MayChange }

// IsNext reports whether it is the first of its connection at the gate.
func (c *Command) IsNext() bool {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return len(c.conn.parked) > 0 && c.conn.parked[0] == c
}

// Obsolete reports whether the server has ended the connection.
func (c *Command) Obsolete() bool {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return c.conn.over && !c.conn.released
}

// Broken is false: connections have no parts.
func (c *Command) Broken() bool { return false }

// Waits reports whether it has passed and the server keeps it waiting.
func (c *Command) Waits() bool {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return c.waits && !c.answered
}

// leaves takes it off the gate.
func (c *Command) leaves() {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	c.conn.parked = slices.DeleteFunc(c.conn.parked, func(o *Command) bool { return o == c })
	c.conn.changed.Broadcast()
}

// Pass lets it through. When it returns, the server has answered it or keeps it waiting, and what the server had to tell others
// has come.
func (c *Command) Pass() {
	if c.passed {
		panic("stream: a command passed twice")
	}
	c.passed = true
	c.leaves()
	c.conn.write(c)
	c.conn.effect(c)
	if c.Sent.Role == gate.Closes {
		c.conn.closes()
	}
	_ = c.conn.address.proxy.Settle() // a server that is gone has nothing more to say
}

// Refuse drops it.
func (c *Command) Refuse() { c.Discard() }

// Discard drops it.
func (c *Command) Discard() { c.leaves() }

// Payload is nil: nobody knows the command but its protocol.
func (c *Command) Payload() any { return nil }

// Exchange begins its exchange.
func (c *Command) Exchange() gate.Exchange {
	return &exchange{command: c, names: c.conn.address.proxy.Names()}
}

// exchange is a command and its reply.
type exchange struct {
	command *Command
	names   *Names
	answer  *Answer // nil where there is none
	lost    bool    // the connection is gone
}

// Answer takes in the reply.
func (x *exchange) Answer(a gate.Answer, _ bool) { x.answer, _ = a.(*Answer) }

// Disconnect has the reply be that the connection is gone.
func (x *exchange) Disconnect() { x.lost = true }

// EndsConnection reports whether it ends its connection.
func (x *exchange) EndsConnection() (ends, byClient bool) {
	byClient = x.command.Sent.Role == gate.Closes
	return byClient || x.lost || x.answer != nil && x.answer.Said.Ends, byClient
}

// EndsPart is false: there are none.
func (x *exchange) EndsPart() (ends, fault bool) { return false, false }

// Cost is the exchange as promises are judged by it. What a driver offers is not known.
func (x *exchange) Cost() backend.Exchange {
	c := x.command
	e := backend.Exchange{
		Access: c.Access, Known: false, Minimal: true, Waits: c.Sent.Replies, RoundTrip: c.Sent.Replies && !c.pipelined, Key: x.names.Key(c.Key),
	}
	switch ends, _ := x.EndsConnection(); {
	case x.answer != nil:
		e.Result, e.Ended = x.answer.Said.Result, ends
	case ends:
		e.Result, e.Ended = backend.Ended, true
	case c.Waits():
		e.Result = backend.Blocked
	case c.Sent.Replies:
		e.Result = backend.Lost
	}
	return e
}

// Describe notes the command and its reply in a step.
func (x *exchange) Describe(step *scenario.TraceStep) {
	step.Exchange, step.Resource = x.Cost(), x.names.Item(x.command.Key)
	step.Command = x.command.Words(x.names)
	switch {
	case x.answer != nil:
		step.Reply = x.answer.Words(x.names)
	case x.lost:
		step.Reply = "connection closed"
	case x.command.Waits():
		step.Reply = "waits"
	}
}

// Answer is something that the server says.
type Answer struct {
	Said
	conn    *Conn
	bytes   []byte
	settles []*Command
	held    bool // the gate has it; the connection's mu guards it
}

var _ gate.Answer = (*Answer)(nil)

// Conn is its connection.
func (a *Answer) Conn() gate.Conn { return a.conn }

// Asked reports whether it answers a command.
func (a *Answer) Asked() bool { return len(a.settles) > 0 }

// Settled is how many commands it answers.
func (a *Answer) Settled() (n int) {
	for _, c := range a.settles {
		if c.gated {
			n++
		}
	}
	return n
}

// Settles reports whether it answers a command.
func (a *Answer) Settles(cmd gate.Command) bool {
	c, ok := cmd.(*Command)
	return ok && slices.Contains(a.settles, c)
}

// Ends reports whether it ends the connection.
func (a *Answer) Ends() bool { return a.Said.Ends }

// Voids reports whether a command that waits comes to nothing by it.
func (a *Answer) Voids(cmd gate.Command) bool { return a.Said.Ends && cmd.Conn() == gate.Conn(a.conn) }

// Send sends it. A client that does not read is cut off.
func (a *Answer) Send(bool) {
	c := a.conn
	a.leaves()
	_ = c.client.SetWriteDeadline(time.Now().Add(writeLimit))
	n, err := c.client.Write(a.bytes)
	c.address.count(func(counts *gate.Counts) { counts.Out.Add(gate.Traffic{Frames: 1, Bytes: n}, 1) })
	if err != nil {
		c.client.Close()
	}
}

// Lose forgets it.
func (a *Answer) Lose() { a.leaves() }

// leaves takes it off the gate.
func (a *Answer) leaves() {
	a.conn.mu.Lock()
	defer a.conn.mu.Unlock()
	if a.held {
		a.held = false
		a.conn.held--
	}
}
