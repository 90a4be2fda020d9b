package stream

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/scenario"
)

// Command is a client's command at the gate. It implements [gate.Command].
type Command struct {
	Sent
	conn      *Conn
	number    uint64
	bytes     []byte
	pipelined bool
	gated     bool // the command waits at the gate; otherwise it passes without waiting
	passed    bool

	// The mutex mu of the connection guards these fields.
	answered bool
	waits    bool // the server keeps the command waiting
}

var _ gate.Command = (*Command)(nil)

// join appends to the command bytes that the client has written after it. The connection's mu is held.
func (c *Command) join(bytes []byte) {
	c.bytes = append(c.bytes, bytes...)
	c.Sent.Words = c.conn.address.proxy.protocol.(Unknown).Shown(c.bytes)
}

// Conn returns the command's connection.
func (c *Command) Conn() gate.Conn { return c.conn }

// Endpoint returns the index of the server that receives the command.
func (c *Command) Endpoint() int { return c.conn.address.proxy.place }

// Number returns the command's number in its connection.
func (c *Command) Number() uint64 { return c.number }

// Role returns what the command does to its connection.
func (c *Command) Role() gate.Role { return c.Sent.Role }

// Pipelined reports whether the command was sent while another one had no reply.
func (c *Command) Pipelined() bool { return c.pipelined }

// Replies reports whether the server answers the command.
func (c *Command) Replies() bool { return c.Sent.Replies }

// MayChange reports whether the command may change the server's state.
func (c *Command) MayChange() bool { return c.Sent.MayChange }

// IsNext reports whether the command is the first of its connection at the gate.
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

// Broken returns false, since connections have no parts.
func (c *Command) Broken() bool { return false }

// Waits reports whether the command has passed and the server keeps it waiting.
func (c *Command) Waits() bool {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return c.waits && !c.answered
}

// leaves removes the command from the gate.
func (c *Command) leaves() {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	c.conn.parked = slices.DeleteFunc(c.conn.parked, func(o *Command) bool { return o == c })
	c.conn.changed.Broadcast()
}

// Pass lets the command through. When Pass returns, the server has answered the command or keeps it waiting, and the
// messages that it caused for other clients have arrived.
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
	_ = c.conn.address.proxy.Settle() // an error means that the server is gone, and sends nothing more
}

// Refuse drops the command; it never reaches the server.
func (c *Command) Refuse() { c.Discard() }

// Discard drops the command; it never reaches the server.
func (c *Command) Discard() { c.leaves() }

// Payload returns nil, since there is no model of the server.
func (c *Command) Payload() any { return nil }

// Exchange begins to record the command and its reply.
func (c *Command) Exchange() gate.Exchange {
	return &exchange{command: c, names: c.conn.address.proxy.Names()}
}

// exchange records a command and its reply, for traces.
type exchange struct {
	command *Command
	names   *Names
	answer  *Answer // reply to the command; nil if there is none
	lost    bool    // the connection ended before a reply
}

// Answer records the reply; nil if there is none.
func (x *exchange) Answer(a gate.Answer, _ bool) { x.answer, _ = a.(*Answer) }

// Disconnect records that the connection ended before a reply.
func (x *exchange) Disconnect() { x.lost = true }

// EndsConnection reports whether the connection ends with the exchange, and whether the client has ended it.
func (x *exchange) EndsConnection() (ends, byClient bool) {
	byClient = x.command.Sent.Role == gate.Closes
	return byClient || x.lost || x.answer != nil && x.answer.Said.Ends, byClient
}

// EndsPart returns false, since connections have no parts.
func (x *exchange) EndsPart() (ends, fault bool) { return false, false }

// Cost returns what the exchange contributes to an operation's cost. Its field Known is false, as the operations of the
// client's driver are unknown.
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

// Describe records the command and its reply in step.
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

// Answer is a message from the server at the gate. It implements [gate.Answer].
type Answer struct {
	Said
	conn    *Conn
	bytes   []byte
	settles []*Command
	held    bool // the answer waits at the gate; guarded by the connection's mu
}

var _ gate.Answer = (*Answer)(nil)

// Conn returns the answer's connection.
func (a *Answer) Conn() gate.Conn { return a.conn }

// Asked reports whether the answer replies to a command.
func (a *Answer) Asked() bool { return len(a.settles) > 0 }

// Settled returns the number of commands that the answer replies to.
func (a *Answer) Settled() (n int) {
	for _, c := range a.settles {
		if c.gated {
			n++
		}
	}
	return n
}

// Settles reports whether the answer replies to cmd.
func (a *Answer) Settles(cmd gate.Command) bool {
	c, ok := cmd.(*Command)
	return ok && slices.Contains(a.settles, c)
}

// Ends reports whether the connection ends with the answer.
func (a *Answer) Ends() bool { return a.Said.Ends }

// Voids reports whether the answer makes the waiting command cmd void.
func (a *Answer) Voids(cmd gate.Command) bool { return a.Said.Ends && cmd.Conn() == gate.Conn(a.conn) }

// Send sends the answer. A client that does not read is cut off.
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

// Lose drops the answer, so that the client does not receive it.
func (a *Answer) Lose() { a.leaves() }

// leaves removes the answer from the gate.
func (a *Answer) leaves() {
	a.conn.mu.Lock()
	defer a.conn.mu.Unlock()
	if a.held {
		a.held = false
		a.conn.held--
	}
}
