package plugin

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/amqp"
)

// command is a client's AMQP command. It waits at the gate, the proxy in front of the broker, until a schedule lets it
// pass.
type command struct {
	*wire.Command
	conn     *conn
	followed bool // set when it passes the gate: a publish that needs a confirm waited behind it on its channel
}

var _ gate.Command = (*command)(nil)

// Conn is the command's connection.
func (c *command) Conn() gate.Conn { return c.conn }

// Endpoint is 0: there is only one broker.
func (c *command) Endpoint() int { return 0 }

// Number is the command's number within its connection.
func (c *command) Number() uint64 { return c.Command.Number }

// Pipelined reports whether the command was sent while another one had no answer.
func (c *command) Pipelined() bool { return c.Command.Pipelined }

// Replies reports whether the broker answers the command.
func (c *command) Replies() bool { return c.Command.Replies }

// Role says whether the command opens or closes its connection, closes its channel, or does none of these.
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

// MayChange reports whether the command may change the state of a lock on the broker. Commands such as channel.open,
// basic.qos and passive declarations cannot.
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

// Broken reports whether a fault has broken the command's channel, so that the broker closes it instead of answering.
// It is false for commands that open or close the channel: clients reuse channel numbers, and a closing channel can no
// longer fail.
func (c *command) Broken() bool {
	if c.begins() {
		return false
	}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return c.conn.broken != 0 && c.conn.broken == c.Channel
}

// Waits is false, because the broker never lets an AMQP command wait: it answers at once or not at all.
func (c *command) Waits() bool { return false }

// begins reports whether the command opens or closes its channel. From then on the channel's number means another
// channel, or none.
func (c *command) begins() bool {
	id := c.Method.ID()
	return id == frame.ChannelOpenID || id == frame.ChannelCloseID
}

// Pass lets the command through to the broker.
func (c *command) Pass() {
	c.conn.passes(c)
	c.Command.Pass()
}

// Discard drops the command, so that the broker never sees it.
func (c *command) Discard() {
	c.conn.leaves(c)
	c.Command.Discard()
}

// Refuse drops the command and makes the broker close its channel with PRECONDITION_FAILED. All drivers take this code
// for an error of the channel only.
func (c *command) Refuse() {
	c.conn.mu.Lock()
	c.conn.broken = 0
	c.conn.mu.Unlock()
	c.Discard()
	c.conn.server.broker.CloseChannel(c.Command.Conn, c.Channel, amqp.PreconditionFailed)
}

// Payload is the command in the form of traces, without a reply and without names of queues.
func (c *command) Payload() any {
	return amqp.Sent{Command: c.Model(func(string) amqp.Queue { return 0 })}
}

// answer is an answer on its way to a client.
type answer struct{ *wire.Answer }

var _ gate.Answer = answer{}

// Conn is the answer's connection.
func (a answer) Conn() gate.Conn { return connOf(a.Answer.Conn) }

// Asked reports whether the answer replies to a command. A delivery, for example, does not.
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

// Voids reports whether the answer closes the channel or connection of cmd, so that a waiting cmd will never be
// answered.
func (a answer) Voids(cmd gate.Command) bool {
	c := cmd.(*command)
	if c.Command.Conn != a.Answer.Conn {
		return false
	}
	return a.Ends() || a.Method.ID() == frame.ChannelCloseID && c.Channel == a.Channel
}

// Send sends the answer to the client. RabbitMQ sometimes confirms two messages with one confirm. If scheduled is set,
// Send imitates this: it holds back the confirm of a message with an odd delivery tag, and the next confirm stands for
// both. It does so only if another message of the channel waited at the gate when that message passed. Messages that
// arrive later do not count, so that an execution can be repeated exactly.
func (a answer) Send(scheduled bool) {
	if scheduled && a.joins() && a.Withhold() {
		return
	}
	a.Answer.Send()
}

// joins reports whether the answer is a confirm that Send holds back and joins with the next one.
func (a answer) joins() bool {
	ack, ok := a.Method.(*frame.BasicAck)
	return ok && ack.DeliveryTag%2 == 1 && len(a.Answer.Settles) == 1 && connOf(a.Answer.Conn).followed(a.Answer.Settles[0])
}
