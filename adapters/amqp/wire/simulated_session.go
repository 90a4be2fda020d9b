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
	c            *Conn    // the connection of the client
	to           listener // receives the broker's methods: c, or a mirrorSession that compares them
	state        sessionState
	host         *virtualHost // nil until the client has opened the connection
	conn         broker.Conn  // number of the connection in the model; 0 while it has none
	user         string
	cancelNotify bool // the client wants a basic.cancel when a consumer's queue is gone
	channelMax   uint16
	channels     map[uint16]*simChannel
}

// listener receives what the broker sends on a connection. It is a [Conn] or, for a replica, a mirrorSession.
type listener interface {
	Answer(Message)
	End(error)
	Flush()
	LoggedIn(user string)
	Heartbeats(every time.Duration)
}

// sessionState is how far a connection has got, from login to close.
type sessionState uint8

const (
	starting sessionState = iota // waiting for start-ok
	tuning                       // waiting for tune-ok
	opening                      // waiting for connection.open
	running
	ending // connection.close was sent and not acknowledged
	ended
)

// simChannel is the part of a channel's state that the model does not have.
type simChannel struct {
	number    uint16
	closing   int // number of channel.close sent to the client and not acknowledged
	mode      frame.ID
	queue     string          // name of the queue declared last, for methods that leave out the name
	published uint64          // number of messages published in confirm mode
	mandatory []pendingReturn // mandatory messages of the open transaction
	consumers []*simConsumer
}

// pendingReturn is a mandatory message of a transaction. It is returned at the commit if none of its queues exists
// then.
type pendingReturn struct {
	publish *frame.BasicPublish
	content *frame.Content
	queues  []amqp.Queue // queues to which the message is routed
}

// simConsumer is a consumer. The model knows it by its index on its channel.
type simConsumer struct {
	tag    string
	number uint64
}

// Heartbeat does nothing: any input shows that the client is alive.
func (x *simSession) Heartbeat() {}

// Close tells the model that the connection has ended.
func (x *simSession) Close() { x.s.do(x.disconnect) }

// disconnect tells the model that the connection has ended. The caller holds the broker's lock.
func (x *simSession) disconnect() {
	x.state = ended
	if x.conn == 0 {
		return
	}
	x.host.broker.Disconnect(x.conn)
	x.leave()
}

// leave frees the connection's number in the model.
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

// Handle carries out a client's command.
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

// goodbye handles methods that the client sends after the broker has closed the connection.
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

// answer sends a method to the client.
func (x *simSession) answer(channel uint16, m frame.Method) {
	x.say(Message{Channel: channel, Method: m})
}

func (x *simSession) say(m Message) {
	x.to.Answer(m)
	if n := len(x.s.spoken); n == 0 || x.s.spoken[n-1] != x.to {
		x.s.spoken = append(x.s.spoken, x.to)
	}
}

// refuse closes the channel or, if the error is a hard error, the connection.
func (x *simSession) refuse(err *refusal, channel uint16) {
	ch := x.channels[channel]
	if err.code.Hard() || ch == nil {
		x.over(err)
		return
	}
	x.closeChannel(ch, err)
}

// closeChannel sends channel.close to the client, and closes the channel in the model if it is still open there.
func (x *simSession) closeChannel(ch *simChannel, err *refusal) {
	x.host.broker.CloseChannel(x.conn, ch.number, amqp.Code(err.code))
	x.forget(ch)
	ch.closing++
	x.answer(ch.number, &frame.ChannelClose{
		ReplyCode: uint16(err.code), ReplyText: err.fullText(), ClassID: err.method.Class(), MethodID: err.method.Method(),
	})
}

// over sends connection.close to the client, and ends the connection in the model.
func (x *simSession) over(err *refusal) {
	if x.conn != 0 {
		x.host.broker.Disconnect(x.conn)
		x.leave()
	}
	x.state = ending
	x.say(err.connectionClose())
}

// forget drops a channel's consumers and transaction here. The model has already dropped them.
func (x *simSession) forget(ch *simChannel) {
	x.host.consumers -= len(ch.consumers)
	ch.consumers, ch.mandatory = nil, nil
}

// onConnection handles a method on channel 0.
func (x *simSession) onConnection(cmd *Command) *refusal {
	switch cmd.Method.(type) {
	case *frame.ConnectionClose:
		x.host.broker.Apply(x.conn, amqp.Command{Method: amqp.ConnectionClose})
		x.leave()
		x.answer(0, &frame.ConnectionCloseOk{})
		x.end()
		return nil
	case *frame.ConnectionUpdateSecret:
		x.answer(0, &frame.ConnectionUpdateSecretOk{}) // has no effect: users have passwords, not tokens that expire
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

// onClosing handles a method on a channel that the broker has closed. It answers a channel.close. It removes the
// channel when the client acknowledges the broker's close.
func (x *simSession) onClosing(ch *simChannel, cmd *Command) {
	switch cmd.Method.(type) {
	case *frame.ChannelClose:
		x.answer(cmd.Channel, &frame.ChannelCloseOk{})
	case *frame.ChannelCloseOk:
		if ch.closing--; ch.closing == 0 {
			delete(x.channels, cmd.Channel)
		}
	default:
		if name, uses := usedQueue(cmd.Method); uses { // RabbitMQ still resolves the name of a queue
			if _, err := ch.shortcut(name); err != nil {
				err.method = cmd.Method.ID()
				x.closeChannel(ch, err)
			}
		}
	}
}

// usedQueue is the name of the queue that a method uses; "" means the queue declared last. uses is false if the method
// uses no queue.
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

// openChannel opens a channel. As in RabbitMQ, the agreed channel-max limits how many channels are open, not their
// numbers.
func (x *simSession) openChannel(number uint16) *refusal {
	if n := len(x.channels); n >= int(x.channelMax) {
		return refusef(frame.NotAllowed, "number of channels opened (%d) has reached the negotiated channel_max (%d)", n, x.channelMax)
	}
	x.host.broker.Apply(x.conn, amqp.Command{Method: amqp.ChannelOpen, Channel: number})
	x.channels[number] = &simChannel{number: number}
	x.answer(number, &frame.ChannelOpenOk{})
	return nil
}

// dispatch passes a method on an open channel to the handler of its class.
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

// unimplemented is RabbitMQ's error for methods that only a server may send.
func unimplemented() *refusal { return refusef(frame.CommandInvalid, "unimplemented method") }

// apply applies a command to the model. The returned code is 0 or that of an error, whose text the caller provides.
func (x *simSession) apply(ch *simChannel, cmd amqp.Command) (amqp.Reply, frame.Code) {
	cmd.Channel = ch.number
	r := x.host.broker.Apply(x.conn, cmd)
	if r.Closed() {
		return r, frame.Code(r.Code)
	}
	return r, 0
}

// do applies a command that has no arguments and sends ok as its reply, unless noWait is set. why is the text of an
// error.
func (x *simSession) do(ch *simChannel, cmd amqp.Command, noWait bool, ok frame.Method, why string) *refusal {
	if _, code := x.apply(ch, cmd); code != 0 {
		return refusef(code, "%s", why)
	}
	if !noWait {
		x.answer(ch.number, ok)
	}
	return nil
}
