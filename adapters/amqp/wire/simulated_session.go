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
	to           listener // receives the broker's messages: c, or a mirrorSession in between
	state        sessionState
	host         *virtualHost // nil until the client has opened the connection
	conn         broker.Conn  // the model's number for it; 0 while it has none
	user         string
	cancelNotify bool // the client wants to be notified when its consumers' queues are gone
	channelMax   uint16
	channels     map[uint16]*simChannel
}

// listener receives a broker's messages on a connection, with those methods of [Conn] that are for backends.
type listener interface {
	Answer(Message)
	End(error)
	Flush()
	LoggedIn(user string)
	Heartbeats(every time.Duration)
}

// sessionState is the progress of a connection.
type sessionState uint8

const (
	starting sessionState = iota // waiting for start-ok
	tuning                       // waiting for tune-ok
	opening                      // waiting for open
	running
	ending // connection.close was sent
	ended
)

// simChannel is the state of a channel that the model does not have.
type simChannel struct {
	number    uint16
	closing   int // number of channel.close that were sent and not acknowledged
	mode      frame.ID
	queue     string          // the queue declared last
	published uint64          // number of messages, in confirm mode
	mandatory []pendingReturn // mandatory messages of the transaction
	consumers []*simConsumer
}

// pendingReturn is a message of a transaction that is returned if none of its queues exists at the commit.
type pendingReturn struct {
	publish *frame.BasicPublish
	content *frame.Content
	queues  []amqp.Queue // its target queues
}

// simConsumer is a consumer. The model identifies it by its number on its channel.
type simConsumer struct {
	tag    string
	number uint64
}

// Heartbeat does nothing: any input shows that the client is alive.
func (x *simSession) Heartbeat() {}

// Close ends the connection in the model.
func (x *simSession) Close() { x.s.do(x.disconnect) }

// disconnect lets the model see the end of the connection.
func (x *simSession) disconnect() {
	x.state = ended
	if x.conn == 0 {
		return
	}
	x.host.broker.Disconnect(x.conn)
	x.leave()
}

// leave frees the model's number.
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

// goodbye handles methods after the connection was closed.
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

// refuse closes the channel or, for a hard error, the connection.
func (x *simSession) refuse(err *refusal, channel uint16) {
	ch := x.channels[channel]
	if err.code.Hard() || ch == nil {
		x.over(err)
		return
	}
	x.closeChannel(ch, err)
}

// closeChannel closes a channel, also in the model if the model has not done so.
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

// forget drops the data of a channel's consumers and transaction. The model has dropped its own.
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
		x.answer(0, &frame.ConnectionUpdateSecretOk{}) // users have passwords, not tokens that expire
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

// onClosing handles a method on a channel that the broker has closed. If the client closed it at the same time, it is
// answered, but the channel is gone only when the client acknowledges the broker's close.
func (x *simSession) onClosing(ch *simChannel, cmd *Command) {
	switch cmd.Method.(type) {
	case *frame.ChannelClose:
		x.answer(cmd.Channel, &frame.ChannelCloseOk{})
	case *frame.ChannelCloseOk:
		if ch.closing--; ch.closing == 0 {
			delete(x.channels, cmd.Channel)
		}
	default:
		if name, uses := usedQueue(cmd.Method); uses { // the name is looked up all the same
			if _, err := ch.shortcut(name); err != nil {
				err.method = cmd.Method.ID()
				x.closeChannel(ch, err)
			}
		}
	}
}

// usedQueue is the queue name in a method that uses a queue; an empty one is the queue declared last.
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

// openChannel opens a channel with any number. As in RabbitMQ, the agreed maximum bounds the number of channels, not their
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

// unimplemented is RabbitMQ's refusal of methods that a client can't send.
func unimplemented() *refusal { return refusef(frame.CommandInvalid, "unimplemented method") }

// apply applies a command to the model. The caller provides the text of an error.
func (x *simSession) apply(ch *simChannel, cmd amqp.Command) (amqp.Reply, frame.Code) {
	cmd.Channel = ch.number
	r := x.host.broker.Apply(x.conn, cmd)
	if r.Closed() {
		return r, frame.Code(r.Code)
	}
	return r, 0
}

// do is apply for a command without arguments, which is answered by a method without arguments.
func (x *simSession) do(ch *simChannel, cmd amqp.Command, noWait bool, ok frame.Method, why string) *refusal {
	if _, code := x.apply(ch, cmd); code != 0 {
		return refusef(code, "%s", why)
	}
	if !noWait {
		x.answer(ch.number, ok)
	}
	return nil
}
