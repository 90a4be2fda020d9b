package wire

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// Gate decides when commands reach the broker, and when answers reach the clients. Through it, a schedule controls
// external clients with either backend.
//
// Its methods are called by the goroutines of connections and must not block. To delay a command or answer, a gate
// stores it and calls its Pass or Send later, from any goroutine. It may also call them at once. The calls for one
// connection's client (Opened, Arrived, ClientGone) come one at a time and in order. So do the calls for its broker
// (Answered, BrokerGone). A call for the client may overlap with a call for the broker.
//
// Client and broker learn separately of a connection's end. If a client dies and the broker is to notice that later,
// the gate calls [Conn.Release] only some time after ClientGone. If the broker drops a connection and the client is to
// notice that later, the gate calls Release first, and [Conn.Cut] or [Conn.HangUp] later.
type Gate interface {
	// Opened is called when the server has accepted a socket, before it reads anything from it.
	Opened(*Conn)
	// Arrived is called for every complete command of a client, with three exceptions: answers to the broker's own methods
	// (start-ok, tune-ok, close-ok …), heartbeats, and commands on a channel that the broker has closed. A connection's
	// first command is therefore connection.open.
	Arrived(*Command)
	// Answered is called for every method that the broker sends.
	Answered(*Answer)
	// ClientGone is called when nothing more will arrive: the client has closed its socket, has died, or was cut off. The
	// broker does not know until [Conn.Release] is called.
	ClientGone(*Conn, error)
	// BrokerGone is called when the broker has ended the connection, after all its answers. The client does not know until
	// [Conn.HangUp] or [Conn.Cut] is called.
	BrokerGone(*Conn, error)
}

// Through is the gate that never delays: it passes every command and sends every answer at once.
type Through struct{}

// Opened does nothing.
func (Through) Opened(*Conn) {}

// Arrived lets the command through.
func (Through) Arrived(c *Command) { c.Pass() }

// Answered sends the answer.
func (Through) Answered(a *Answer) { a.Send() }

// ClientGone tells the broker at once that the connection has ended.
func (Through) ClientGone(c *Conn, _ error) { c.Release() }

// BrokerGone closes the client's socket at once.
func (Through) BrokerGone(c *Conn, _ error) { c.HangUp() }

// Command is a method with its content that a client has sent. It waits at the gate until Pass or Discard is called.
type Command struct {
	Message
	Conn *Conn
	// Number counts the commands of the connection from 1, in order of arrival.
	Number uint64
	// Pipelined says that the client sent this command before it received the answer to an earlier one. This is certain
	// only if the earlier command was held at the gate: otherwise the answer may have been sent just before this
	// command arrived.
	Pipelined bool
	// Replies says that the broker will reply to the command and that the client waits for the reply.
	Replies bool

	channel *channelInFlight
	confirm uint64 // counts the messages of the channel that need a confirm, from 1; 0 for other commands
	passed  bool
}

// Pass lets the command through to the broker. When Pass returns, the simulated broker has carried the command out, and
// its answer is on its way to [Gate.Answered]; to a real broker, the command has been written. Commands of one channel
// must pass in order of arrival. Pass panics if they do not, or if it is called twice. Pass has no effect once the
// broker has seen the connection's end or closed the channel. In that case a channel.close has already been answered.
func (c *Command) Pass() {
	if c.Conn.passing(c) {
		c.Conn.session.Handle(c)
	}
	c.Conn.drain()
}

// IsNext reports whether all earlier commands of the client on the same channel have passed.
func (c *Command) IsNext() bool {
	c.Conn.mu.Lock()
	defer c.Conn.mu.Unlock()
	return c.Conn.inFlight.isNext(c)
}

// Obsolete reports whether the broker has closed the command's channel or connection since the client sent the command, so
// that the command has no effect.
func (c *Command) Obsolete() bool {
	c.Conn.mu.Lock()
	defer c.Conn.mu.Unlock()
	l := &c.Conn.inFlight
	return l.closing || c.obsolete() || l.channels[c.Channel] != c.channel
}

// Discard drops the command, so that the broker never receives it. It simulates a connection that breaks with commands
// on their way, so the order of calls is free. If the connection continues, the client waits for the reply forever.
func (c *Command) Discard() { c.Conn.discarded(c) }

// String describes the command in one line.
func (c *Command) String() string {
	return fmt.Sprintf("connection %d channel %d %s", c.Conn.Number, c.Channel, c.Method.ID())
}

// Answer is a method that the broker sent, with its content, on its way to the client.
type Answer struct {
	Message
	Conn *Conn
	// Settles are the commands that this answers. A confirm for several messages, or a close, settles several commands.
	// A method that the broker sends unasked, such as basic.deliver or basic.return, settles none.
	Settles []*Command
	// Reply is the answer in terms of the model; zero if the model does not have it. It includes the number of messages
	// that were returned on the channel since the last answer.
	Reply amqp.Reply

	done bool
}

// Send sends the answer to the client. Answers of one connection are sent in the order of the calls. Sending twice panics;
// sending to a client that is gone does nothing.
func (a *Answer) Send() { a.Conn.send(a) }

// Lose drops the answer. The client then never receives it. It is correct only if the client receives nothing more on
// the connection: a later answer would violate the protocol.
func (a *Answer) Lose() {
	a.Conn.mu.Lock()
	defer a.Conn.mu.Unlock()
	if a.done {
		panic("wire: an answer was lost that was sent or lost before")
	}
	a.done = true
}

// Backend is the broker behind the gate, real or simulated.
type Backend interface {
	// Connect creates the session of a connection whose client has sent the protocol header. It calls [Conn.Answer]
	// with the broker's first method.
	Connect(*Conn) (Session, error)
	// Verbatim reports whether the backend needs the original frames of commands, in order to forward them.
	Verbatim() bool
}

// Session is the broker's side of a connection. Its methods may be called concurrently.
type Session interface {
	// Handle carries out a command that has passed the gate.
	Handle(*Command)
	// Heartbeat is called for each heartbeat of the client.
	Heartbeat()
	// Close tells the broker that the connection has ended. It is called once, after all other calls.
	Close()
}

// witness is implemented by a session that must see its broker's answers before the gate does. Conn.mu is held during
// the call.
type witness interface{ answered(*Answer) }

// isAnswer says for each method, by index, whether it is a reply to another method, such as queue.declare-ok.
var isAnswer = func() (answer [len(frame.IDs)]bool) {
	for i, id := range frame.IDs {
		name := id.String()
		answer[i] = len(name) > 3 && name[len(name)-3:] == "-ok" || id == frame.BasicGetEmptyID
	}
	return answer
}()
