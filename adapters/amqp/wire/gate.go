package wire

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// Gate decides when commands reach the broker, and when answers reach the clients. Here a schedule is put between external
// clients and either backend.
//
// Its methods are called by the goroutines of connections and must not block. A gate that wants to wait keeps its argument
// and calls the argument's Pass, Send and so on later, from any goroutine. It may also call them at once. Calls for a
// client's acts on one connection (Opened, Arrived, ClientGone) come one at a time, in their order. So do calls for the
// broker's acts (Answered, BrokerGone). A call of either kind may come during one of the other.
//
// Client and broker learn separately of a connection's end. If a client dies unnoticed, ClientGone is called, and the gate
// calls [Conn.Release] only later. If the broker drops a connection and the client does not know, the gate calls Release
// alone, and [Conn.Cut] or [Conn.HangUp] later.
type Gate interface {
	// Opened is called when a socket was accepted, before anything is read from it.
	Opened(*Conn)
	// Arrived is called for every complete command of a client. Three kinds pass without the gate: answers to the
	// broker's own methods (start-ok, tune-ok, close-ok …), heartbeats, and commands on a channel that the broker has
	// closed. A connection's first command is therefore connection.open.
	Arrived(*Command)
	// Answered is called for every method that the broker sends.
	Answered(*Answer)
	// ClientGone is called when nothing more will arrive: the client has closed its socket, died, or
	// was cut off. The broker does not know until [Conn.Release] is called.
	ClientGone(*Conn, error)
	// BrokerGone is called when the broker has ended the connection, after all that it answered. The
	// client does not know until [Conn.HangUp] or [Conn.Cut] is called.
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

// ClientGone tells the broker.
func (Through) ClientGone(c *Conn, _ error) { c.Release() }

// BrokerGone tells the client.
func (Through) BrokerGone(c *Conn, _ error) { c.HangUp() }

// Command is a method that a client sent, with its content, at the gate.
type Command struct {
	Message
	Conn *Conn
	// Number counts the connection's commands from 1, in the order in which they arrived.
	Number uint64
	// Pipelined says that the client sent the command while an earlier one of the connection had no answer yet. A
	// client that writes on before it reads may look like one that waits, if the answer was sent before the next
	// command came. Commands held at the gate exclude that.
	Pipelined bool
	// Replies says that the broker answers it with something that the client waits for.
	Replies bool

	channel *channelInFlight
	confirm uint64 // its number among the messages to be confirmed on its channel, from 1
	passed  bool
}

// Pass lets the command through to the broker. With the simulated broker, it has taken effect when
// Pass returns, and what the broker answers is on its way to [Gate.Answered]; with a real one, it has
// been written. Commands of one channel pass in the order in which they arrived; anything else, and
// passing twice, panics. Once the broker has seen the connection's end or closed the channel, a command goes
// nowhere; a channel.close has been answered by then.
func (c *Command) Pass() {
	if c.Conn.passing(c) {
		c.Conn.session.Handle(c)
	}
	c.Conn.drain()
}

// IsNext reports whether all that the client had sent on the channel before it has passed.
func (c *Command) IsNext() bool {
	c.Conn.mu.Lock()
	defer c.Conn.mu.Unlock()
	return c.Conn.inFlight.isNext(c)
}

// Obsolete reports whether its channel or connection has been closed by the broker since the client has sent it, so that
// it comes to nothing.
func (c *Command) Obsolete() bool {
	c.Conn.mu.Lock()
	defer c.Conn.mu.Unlock()
	l := &c.Conn.inFlight
	return l.closing || c.obsolete() || l.channels[c.Channel] != c.channel
}

// Discard drops the command: it never reached the broker. This is the fate of commands on their way when a connection
// breaks, in any order; a client whose connection continues would never see an answer.
func (c *Command) Discard() { c.Conn.discarded(c) }

// String is the command as one line.
func (c *Command) String() string {
	return fmt.Sprintf("connection %d channel %d %s", c.Conn.Number, c.Channel, c.Method.ID())
}

// Answer is a method that the broker sent, with its content, on its way to the client.
type Answer struct {
	Message
	Conn *Conn
	// Settles are the commands that this answers: one, several where a confirm stands for them all or
	// a close ends them, none for what the broker sends unasked: messages returned or delivered.
	Settles []*Command
	// Reply is the answer in the model's terms, for those that it has. Messages that were returned on
	// the channel since the last answer are counted in it.
	Reply amqp.Reply

	done bool
}

// Send sends the answer to the client. Answers of one connection are sent in the order of the calls.
// Sending twice panics; sending to a client that is gone does nothing.
func (a *Answer) Send() { a.Conn.send(a) }

// Lose forgets the answer. A client that is sent nothing more on the connection sees a reply that
// never came; one that is sent a later answer sees a broken protocol.
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
	// Connect begins a connection, whose client has sent the protocol's header. It calls
	// [Conn.Answer] for what the broker has to say to that.
	Connect(*Conn) (Session, error)
	// Verbatim reports whether commands need their frames as they came.
	Verbatim() bool
}

// Session is a connection as the broker has it. Its methods may be called at once.
type Session interface {
	// Handle carries out a command that has passed the gate.
	Handle(*Command)
	// Heartbeat is called for each heartbeat of the client's.
	Heartbeat()
	// Close is the broker seeing the end of the connection. It is called once, the last of all.
	Close()
}

// witness is a session that looks at what its broker answers, before the gate does. The connection is locked
// then.
type witness interface{ answered(*Answer) }

// isAnswer says by a method's index whether it answers another one.
var isAnswer = func() (answer [len(frame.IDs)]bool) {
	for i, id := range frame.IDs {
		name := id.String()
		answer[i] = len(name) > 3 && name[len(name)-3:] == "-ok" || id == frame.BasicGetEmptyID
	}
	return answer
}()
