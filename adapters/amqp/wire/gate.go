package wire

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// Gate decides when commands reach the broker, and when answers reach the clients. Through it, a schedule controls external
// clients with either backend.
//
// Its methods are called by the goroutines of connections and must not block. A gate that wants to delay something keeps the
// argument and calls the argument's Pass, Send and so on later, from any goroutine. It may also call them at once. Calls for
// a client's acts on one connection (Opened, Arrived, ClientGone) do not overlap, and come in the order of the acts. So do
// calls for the broker's acts (Answered, BrokerGone). A call of either kind may overlap with one of the other kind.
//
// Client and broker learn separately of a connection's end. If a client dies unnoticed, ClientGone is called, and the gate
// calls [Conn.Release] only later. If the broker drops a connection without the client's knowledge, the gate calls Release,
// and calls [Conn.Cut] or [Conn.HangUp] later.
type Gate interface {
	// Opened is called when a socket was accepted, before anything is read from it.
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

// Through is the gate that is always open.
type Through struct{}

// Opened does nothing.
func (Through) Opened(*Conn) {}

// Arrived lets the command through.
func (Through) Arrived(c *Command) { c.Pass() }

// Answered sends the answer.
func (Through) Answered(a *Answer) { a.Send() }

// ClientGone lets the broker see the end.
func (Through) ClientGone(c *Conn, _ error) { c.Release() }

// BrokerGone lets the client see the end.
func (Through) BrokerGone(c *Conn, _ error) { c.HangUp() }

// Command is a method that a client sent, with its content, at the gate.
type Command struct {
	Message
	Conn *Conn
	// Number is the number of the command in its connection, from 1, in order of arrival.
	Number uint64
	// Pipelined says that the client sent the command while an earlier command of the connection had no answer yet. If the
	// answer was sent before the next command arrived, a client that writes without reading looks like one that waits. If
	// earlier commands are held at the gate, that cannot happen.
	Pipelined bool
	// Replies says that the broker sends a reply that the client waits for.
	Replies bool

	channel *channelInFlight
	confirm uint64 // number among the messages of its channel that need a confirm, from 1
	passed  bool
}

// Pass lets the command through to the broker. When Pass returns, the simulated broker has carried the command out, and its
// answer is on its way to [Gate.Answered]; to a real broker, the command has been written. Commands of one channel must pass
// in order of arrival. Pass panics if they do not, or if it is called twice. Once the broker has seen the connection's end
// or closed the channel, a command has no effect; a channel.close has then been answered already.
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

// Discard drops the command: it never reaches the broker. When a connection breaks, commands on their way are dropped like
// this, in any order. A client whose connection continues would never receive an answer.
func (c *Command) Discard() { c.Conn.discarded(c) }

// String is the command in one line.
func (c *Command) String() string {
	return fmt.Sprintf("connection %d channel %d %s", c.Conn.Number, c.Channel, c.Method.ID())
}

// Answer is a method that the broker sent, with its content, on its way to the client.
type Answer struct {
	Message
	Conn *Conn
	// Settles are the commands that this answers: one; several if a confirm stands for all of them or a close ends them;
	// none if the broker sends the method unasked, as it sends returned or delivered messages.
	Settles []*Command
	// Reply is the answer as the model represents it, if it does. It includes the number of messages that were returned on
	// the channel since the last answer.
	Reply amqp.Reply

	done bool
}

// Send sends the answer to the client. Answers of one connection are sent in the order of the calls. Sending twice panics;
// sending to a client that is gone does nothing.
func (a *Answer) Send() { a.Conn.send(a) }

// Lose drops the answer. If the client receives nothing more on the connection, it sees a reply that never came; if it
// receives a later answer, it sees a broken protocol.
func (a *Answer) Lose() {
	a.Conn.mu.Lock()
	defer a.Conn.mu.Unlock()
	if a.done {
		panic("wire: an answer was lost that was sent or lost before")
	}
	a.done = true
}

// Backend is a broker behind the gate.
type Backend interface {
	// Connect begins a connection, after its client has sent the protocol's header. It calls [Conn.Answer] with the broker's
	// response.
	Connect(*Conn) (Session, error)
	// Verbatim reports whether the backend needs the original frames of commands.
	Verbatim() bool
}

// Session is the broker's side of a connection. Its methods may be called concurrently.
type Session interface {
	// Handle carries out a command that has passed the gate.
	Handle(*Command)
	// Heartbeat is called for each heartbeat of the client.
	Heartbeat()
	// Close lets the broker see the end of the connection. It is called once, after all other calls.
	Close()
}

// witness is a session that sees its broker's answers before the gate does. The connection is locked during the call.
type witness interface{ answered(*Answer) }

// isAnswer says, by a method's index, whether the method answers another one.
var isAnswer = func() (answer [len(frame.IDs)]bool) {
	for i, id := range frame.IDs {
		name := id.String()
		answer[i] = len(name) > 3 && name[len(name)-3:] == "-ok" || id == frame.BasicGetEmptyID
	}
	return answer
}()
