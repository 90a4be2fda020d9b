package wire

import (
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// simSession is a client's connection to the simulated broker.
type simSession struct {
	s            *Simulated
	c            *Conn    // whose it is
	to           listener // who hears what the broker says to it: c, where nobody stands between
	state        sessionState
	host         *virtualHost // nil until the client has opened the connection to it
	conn         broker.Conn  // the model's number of it; 0 while it has none
	user         string
	cancelNotify bool // the client wants to know when its consumers' queues are gone
	channelMax   uint16
	channels     map[uint16]*simChannel
}

// listener receives what a broker says on a connection, by the methods of [Conn] that are for backends.
type listener interface {
	Answer(Message)
	End(error)
	Flush()
	LoggedIn(user string)
	Heartbeats(every time.Duration)
}

// sessionState is how far a connection has come.
type sessionState uint8

const (
	starting sessionState = iota // start-ok is to come
	tuning                       // tune-ok
	opening                      // open
	running
	ending // connection.close was sent
	ended
)

// simChannel is what a channel has that the model has not.
type simChannel struct {
	number    uint16
	closing   int // channel.close that were sent and that the client has not said it knows of
	mode      frame.ID
	queue     string          // the one declared last
	published uint64          // messages, in confirm mode
	mandatory []pendingReturn // messages of the transaction
	consumers []*simConsumer
}

// pendingReturn is a message of a transaction that comes back if none of its queues is there at the commit.
type pendingReturn struct {
	publish *frame.BasicPublish
	content *frame.Content
	queues  []amqp.Queue // that it was for
}

// simConsumer is a consumer. The model knows it by its number on its channel.
type simConsumer struct {
	tag    string
	number uint64
}

// Heartbeat does nothing: that the client is there is seen by what it sends.
func (x *simSession) Heartbeat() {}

// Close ends the connection in the model.
func (x *simSession) Close() { x.s.do(x.disconnect) }

// disconnect has the model see the end of the connection.
func (x *simSession) disconnect() {
	x.state = ended
	if x.conn == 0 {
		return
	}
	x.host.broker.Disconnect(x.conn)
	x.leave()
}

// leave gives up the model's number.
func (x *simSession) leave() {
	if x.conn == 0 {
		return
	}
	for _, ch := range x.channels {
		x.forget(ch)
	}
	x.host.sessions[x.conn-1] = nil
	x.conn, x.channels = 0, nil
}

// Handle carries out a command.
func (x *simSession) Handle(cmd *Command) { x.s.do(func() { x.handle(cmd) }) }

func (x *simSession) handle(cmd *Command) {
	var err *refusal
	switch {
	case x.state == ended:
		return
	case x.state == ending:
		x.goodbye(cmd)
		return
	case x.state != running:
		err = x.handshake(cmd)
	case cmd.Channel == 0:
		err = x.onConnection(cmd)
	default:
		err = x.onChannel(cmd)
	}
	if err != nil {
		err.method, err.text = cmd.Method.ID(), x.host.says(err.text)
		x.refuse(err, cmd.Channel)
	}
}

// goodbye is what counts after the connection was closed.
func (x *simSession) goodbye(cmd *Command) {
	switch cmd.Method.(type) {
	case *frame.ConnectionClose:
		x.answer(0, &frame.ConnectionCloseOk{})
	case *frame.ConnectionCloseOk:
	default:
		return
	}
	x.end()
}

func (x *simSession) end() {
	x.state = ended
	x.to.End(nil)
	x.s.spoken = append(x.s.spoken, x.to)
}

// answer sends a method.
func (x *simSession) answer(channel uint16, m frame.Method) {
	x.say(Message{Channel: channel, Method: m})
}

func (x *simSession) say(m Message) {
	x.to.Answer(m)
	if n := len(x.s.spoken); n == 0 || x.s.spoken[n-1] != x.to {
		x.s.spoken = append(x.s.spoken, x.to)
	}
}

// refuse closes the channel, or the connection for what is a hard error.
func (x *simSession) refuse(err *refusal, channel uint16) {
	ch := x.channels[channel]
	if err.code.Hard() || ch == nil {
		x.over(err)
		return
	}
	x.closeChannel(ch, err)
}

// closeChannel closes a channel, in the model as well where that has not done so.
func (x *simSession) closeChannel(ch *simChannel, err *refusal) {
	x.host.broker.CloseChannel(x.conn, ch.number, amqp.Code(err.code))
	x.forget(ch)
	ch.closing++
	x.answer(ch.number, &frame.ChannelClose{
		ReplyCode: uint16(err.code), ReplyText: err.fullText(), ClassID: err.method.Class(), MethodID: err.method.Method(),
	})
}

// over closes the connection.
func (x *simSession) over(err *refusal) {
	if x.conn != 0 {
		x.host.broker.Disconnect(x.conn)
		x.leave()
	}
	x.state = ending
	x.say(err.connectionClose())
}

// forget drops what is kept of a channel's consumers and transaction. The model has done so itself.
func (x *simSession) forget(ch *simChannel) {
	x.host.consumers -= len(ch.consumers)
	ch.consumers, ch.mandatory = nil, nil
}

// onConnection handles a method of the connection's own.
func (x *simSession) onConnection(cmd *Command) *refusal {
	switch cmd.Method.(type) {
	case *frame.ConnectionClose:
		x.host.broker.Apply(x.conn, amqp.Command{Method: amqp.ConnectionClose})
		x.leave()
		x.answer(0, &frame.ConnectionCloseOk{})
		x.end()
		return nil
	case *frame.ConnectionUpdateSecret:
		x.answer(0, &frame.ConnectionUpdateSecretOk{}) // users have passwords, not tokens that run out
		return nil
	}
	return refusef(frame.ChannelError, "unexpected method in connection state running")
}

// onChannel handles a method on a channel.
func (x *simSession) onChannel(cmd *Command) *refusal {
	ch := x.channels[cmd.Channel]
	_, opens := cmd.Method.(*frame.ChannelOpen)
	switch {
	case ch == nil && !opens:
		return refusef(frame.ChannelError, "expected 'channel.open'")
	case ch != nil && opens:
		return refusef(frame.ChannelError, "second 'channel.open' seen")
	case opens:
		return x.openChannel(cmd.Channel)
	case ch.closing > 0:
		x.onClosing(ch, cmd)
		return nil
	}
	return x.dispatch(ch, cmd)
}

// onClosing handles a method on a channel that the broker has closed. The client may have closed it at the
// same time: that is answered, but the channel is gone only when the client says that it knows.
func (x *simSession) onClosing(ch *simChannel, cmd *Command) {
	switch cmd.Method.(type) {
	case *frame.ChannelClose:
		x.answer(cmd.Channel, &frame.ChannelCloseOk{})
	case *frame.ChannelCloseOk:
		if ch.closing--; ch.closing == 0 {
			delete(x.channels, cmd.Channel)
		}
	default:
		if name, uses := usedQueue(cmd.Method); uses { // what it stands for is looked up all the same
			if _, err := ch.shortcut(name); err != nil {
				err.method = cmd.Method.ID()
				x.closeChannel(ch, err)
			}
		}
	}
}

// usedQueue is the name in a method that uses a queue, or the one declared last where it is empty.
func usedQueue(m frame.Method) (name string, uses bool) {
	switch m := m.(type) {
	case *frame.QueueDelete:
		return m.Queue, true
	case *frame.QueuePurge:
		return m.Queue, true
	case *frame.QueueBind:
		return m.Queue, true
	case *frame.QueueUnbind:
		return m.Queue, true
	case *frame.BasicGet:
		return m.Queue, true
	case *frame.BasicConsume:
		return m.Queue, true
	}
	return "", false
}

// openChannel opens a channel of any number. As in RabbitMQ, the maximum agreed on is of how many there are.
func (x *simSession) openChannel(number uint16) *refusal {
	if n := len(x.channels); n >= int(x.channelMax) {
		return refusef(frame.NotAllowed, "number of channels opened (%d) has reached the negotiated channel_max (%d)", n, x.channelMax)
	}
	x.host.broker.Apply(x.conn, amqp.Command{Method: amqp.ChannelOpen, Channel: number})
	x.channels[number] = &simChannel{number: number}
	x.answer(number, &frame.ChannelOpenOk{})
	return nil
}

// dispatch hands a method on an open channel to whatever it is about.
func (x *simSession) dispatch(ch *simChannel, cmd *Command) *refusal {
	switch m := cmd.Method.(type) {
	case *frame.ChannelClose:
		x.host.broker.Apply(x.conn, amqp.Command{Method: amqp.ChannelClose, Channel: ch.number})
		x.forget(ch)
		delete(x.channels, ch.number)
		x.answer(ch.number, &frame.ChannelCloseOk{})
		return nil
	case *frame.ChannelFlow:
		if !m.Active {
			return refusef(frame.NotImplemented, "active=false")
		}
		x.answer(ch.number, &frame.ChannelFlowOk{Active: true})
		return nil
	case *frame.ConfirmSelect, *frame.TxSelect, *frame.TxCommit, *frame.TxRollback:
		return x.onMode(ch, cmd.Method)
	case *frame.BasicPublish:
		return x.publish(ch, m, cmd.Content)
	}
	switch cmd.Method.ID().Class() {
	case frame.QueueDeclareID.Class():
		return x.onQueue(ch, cmd.Method)
	case frame.ExchangeDeclareID.Class():
		return x.onExchange(ch, cmd.Method)
	case frame.BasicGetID.Class():
		return x.onBasic(ch, cmd.Method)
	}
	return unimplemented()
}

// unimplemented is what RabbitMQ says to methods that a client can't send.
func unimplemented() *refusal { return refusef(frame.CommandInvalid, "unimplemented method") }

// apply puts a command to the model. The text of an error is the caller's business.
func (x *simSession) apply(ch *simChannel, cmd amqp.Command) (amqp.Reply, frame.Code) {
	cmd.Channel = ch.number
	r := x.host.broker.Apply(x.conn, cmd)
	if r.Closed() {
		return r, frame.Code(r.Code)
	}
	return r, 0
}

// do is apply for what has no arguments, answered by a method without any.
func (x *simSession) do(ch *simChannel, cmd amqp.Command, noWait bool, ok frame.Method, why string) *refusal {
	if _, code := x.apply(ch, cmd); code != 0 {
		return refusef(code, "%s", why)
	}
	if !noWait {
		x.answer(ch.number, ok)
	}
	return nil
}
