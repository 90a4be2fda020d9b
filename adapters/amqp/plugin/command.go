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
	followed bool // when it passed, another message to be confirmed waited on its channel
}

var _ gate.Command = (*command)(nil)

// Conn is its connection.
func (c *command) Conn() gate.Conn { return c.conn }

// Endpoint is 0: there is one broker.
func (c *command) Endpoint() int { return 0 }

// Number counts the connection's commands.
func (c *command) Number() uint64 { return c.Command.Number }

// Pipelined reports whether it was sent while another had no answer.
func (c *command) Pipelined() bool { return c.Command.Pipelined }

// Replies reports whether the broker answers it.
func (c *command) Replies() bool { return c.Command.Replies }

// Role is what it does to its connection.
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

// MayChange reports whether it may change what the broker has of a lock.
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

// Broken reports whether the broker is to close its channel instead. Libraries use the numbers of channels again, and one that the
// client closes is past its errors.
func (c *command) Broken() bool {
	if c.begins() {
		return false
	}
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return c.conn.broken != 0 && c.conn.broken == c.Channel
}

// Waits is false: a command of AMQP is answered, or has no answer.
func (c *command) Waits() bool { return false }

// begins reports whether the number of its channel means another one from then on, or none.
func (c *command) begins() bool {
	id := c.Method.ID()
	return id == frame.ChannelOpenID || id == frame.ChannelCloseID
}

// Pass lets it through.
func (c *command) Pass() {
	c.conn.passes(c)
	c.Command.Pass()
}

// Discard drops it.
func (c *command) Discard() {
	c.conn.leaves(c)
	c.Command.Discard()
}

// Refuse has the broker close its channel. The code is one that closes a channel and nothing more, to all drivers.
func (c *command) Refuse() {
	c.conn.mu.Lock()
	c.conn.broken = 0
	c.conn.mu.Unlock()
	c.Discard()
	c.conn.server.broker.CloseChannel(c.Command.Conn, c.Channel, amqp.PreconditionFailed)
}

// Payload is the command without its answer, as traces have it; queues have no names there.
func (c *command) Payload() any {
	return amqp.Sent{Command: c.Model(func(string) amqp.Queue { return 0 })}
}

// answer is an answer on its way to a client.
type answer struct{ *wire.Answer }

var _ gate.Answer = answer{}

// Conn is its connection.
func (a answer) Conn() gate.Conn { return connOf(a.Answer.Conn) }

// Asked reports whether it answers a command.
func (a answer) Asked() bool { return len(a.Answer.Settles) > 0 }

// Settled is how many commands it answers.
func (a answer) Settled() int { return len(a.Answer.Settles) }

// Settles reports whether it answers a command.
func (a answer) Settles(cmd gate.Command) bool {
	c, ok := cmd.(*command)
	return ok && slices.Contains(a.Answer.Settles, c.Command)
}

// Ends reports whether it closes the connection.
func (a answer) Ends() bool { return a.Method.ID() == frame.ConnectionCloseID }

// Voids reports whether a command that waits comes to nothing: what was sent on a channel, or a connection, that is closed.
func (a answer) Voids(cmd gate.Command) bool {
	c := cmd.(*command)
	if c.Command.Conn != a.Answer.Conn {
		return false
	}
	return a.Ends() || a.Method.ID() == frame.ChannelCloseID && c.Channel == a.Channel
}

// Send sends it. RabbitMQ confirms two messages by one confirm now and then. Under a schedule, every other confirm is kept back
// if the client had written another message when this one passed, so that an execution has both kinds. Commands that come
// while the broker answers make no difference, so that an execution is the same every time.
func (a answer) Send(scheduled bool) {
	if scheduled && a.joins() && a.Withhold() {
		return
	}
	a.Answer.Send()
}

// joins reports whether a confirm is to be sent together with the next one.
func (a answer) joins() bool {
	ack, ok := a.Method.(*frame.BasicAck)
	return ok && ack.DeliveryTag%2 == 1 && len(a.Answer.Settles) == 1 && connOf(a.Answer.Conn).followed(a.Answer.Settles[0])
}
