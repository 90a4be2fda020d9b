package plugin

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/amqp"
)

// command is a command at the gate.
type command struct {
	*wire.Command
	conn     *conn
	followed bool // when it passed, another message that needs a confirm waited on its channel
}

var _ gate.Command = (*command)(nil)

// Conn is the command's connection.
func (c *command) Conn() gate.Conn { return c.conn }

// Endpoint is 0: there is only one broker.
func (c *command) Endpoint() int { return 0 }

// Number is the command's number in its connection.
func (c *command) Number() uint64 { return c.Command.Number }

// Pipelined reports whether the command was sent while another one had no answer.
func (c *command) Pipelined() bool { return c.Command.Pipelined }

// Replies reports whether the broker answers the command.
func (c *command) Replies() bool { return c.Command.Replies }

// Role is what the command does to its connection.
func (c *command) Role() gate.Role {
	switch c.Method.ID() {
	case frame.ConnectionOpenID:
		return gate.Opens
	case frame.ConnectionCloseID:
		return gate.Closes
	case frame.ChannelCloseID:
		return gate.ClosesPart
	}
	return gate.Plain
}

// MayChange reports whether the command may change the broker's state of a lock.
func (c *command) MayChange() bool {
	model := c.Model(func(string) amqp.Queue { return 0 })
	return mayChange(&model)
}

func mayChange(cmd *amqp.Command) bool {
	switch cmd.Method {
	case amqp.QueueDeclare, amqp.ExchangeDeclare:
		return !cmd.Flags.Has(amqp.Passive)
	case amqp.BasicQos, amqp.TxSelect, amqp.ConnectionOpen, amqp.ConnectionClose, amqp.ChannelOpen, amqp.ChannelClose, amqp.ConfirmSelect:
		return false
	}
	return true
}

// Broken reports whether the broker will close the command's channel instead. It will not if the command opens or closes the
// channel: libraries reuse channel numbers, and a channel that the client closes no longer has errors.
func (c *command) Broken() bool {
	if c.begins() {
		return false
	}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return c.conn.broken != 0 && c.conn.broken == c.Channel
}

// Waits is false: an AMQP command is answered at once, or has no answer.
func (c *command) Waits() bool { return false }

// begins reports whether the command opens or closes its channel, so that the channel's number then stands for another
// channel, or for none.
func (c *command) begins() bool {
	id := c.Method.ID()
	return id == frame.ChannelOpenID || id == frame.ChannelCloseID
}

// Pass lets the command through.
func (c *command) Pass() {
	c.conn.passes(c)
	c.Command.Pass()
}

// Discard drops the command.
func (c *command) Discard() {
	c.conn.leaves(c)
	c.Command.Discard()
}

// Refuse makes the broker close the command's channel. All drivers take the code as one that closes the channel only.
func (c *command) Refuse() {
	c.conn.mu.Lock()
	c.conn.broken = 0
	c.conn.mu.Unlock()
	c.Discard()
	c.conn.server.broker.CloseChannel(c.Command.Conn, c.Channel, amqp.PreconditionFailed)
}

// Payload is the command without its answer, as traces have it; there queues have no names.
func (c *command) Payload() any {
	return amqp.Sent{Command: c.Model(func(string) amqp.Queue { return 0 })}
}

// answer is an answer on its way to a client.
type answer struct{ *wire.Answer }

var _ gate.Answer = answer{}

// Conn is the answer's connection.
func (a answer) Conn() gate.Conn { return connOf(a.Answer.Conn) }

// Asked reports whether the answer replies to a command.
func (a answer) Asked() bool { return len(a.Answer.Settles) > 0 }

// Settled is the number of commands that the answer replies to.
func (a answer) Settled() int { return len(a.Answer.Settles) }

// Settles reports whether the answer replies to cmd.
func (a answer) Settles(cmd gate.Command) bool {
	c, ok := cmd.(*command)
	return ok && slices.Contains(a.Answer.Settles, c.Command)
}

// Ends reports whether the answer closes the connection.
func (a answer) Ends() bool { return a.Method.ID() == frame.ConnectionCloseID }

// Voids reports whether the answer makes a waiting command void, because it closes the command's channel or connection.
func (a answer) Voids(cmd gate.Command) bool {
	c := cmd.(*command)
	if c.Command.Conn != a.Answer.Conn {
		return false
	}
	return a.Ends() || a.Method.ID() == frame.ChannelCloseID && c.Channel == a.Channel
}

// Send sends the answer. RabbitMQ sometimes confirms two messages with one confirm. Under a schedule, every other confirm is
// held back if the client had written another message when this one passed, so that executions contain both kinds. Commands
// that arrive while the broker answers have no influence, so that an execution can be repeated exactly.
func (a answer) Send(scheduled bool) {
	if scheduled && a.joins() && a.Withhold() {
		return
	}
	a.Answer.Send()
}

// joins reports whether a confirm is sent together with the next one.
func (a answer) joins() bool {
	ack, ok := a.Method.(*frame.BasicAck)
	return ok && ack.DeliveryTag%2 == 1 && len(a.Answer.Settles) == 1 && connOf(a.Answer.Conn).followed(a.Answer.Settles[0])
}
