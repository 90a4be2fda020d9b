package wire

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate/socket"
)

// Conn is a client's connection to the server. It joins the client's socket and the session on the broker.
type Conn struct {
	Server *Server
	// Number counts the server's connections from 1, in order of acceptance.
	Number uint64
	// Peer is for the gate, which stores its own data about the connection here.
	Peer any

	socket  net.Conn
	reader  *socket.Reader // reads socket
	in      *frame.Reader
	out     *outbox
	session Session // set once, before the first command

	frameMax  atomic.Int64 // agreed maximum frame size; 0 for no limit
	readLimit atomic.Int64 // nanoseconds of silence after which the client counts as dead; 0 means no limit
	readEnd   atomic.Int64 // deadline for reading from the client, in nanoseconds since 1970; 0 means none
	surplus   bool         // the connection is beyond the maximum number of connections
	tuned     bool         // the client has stated its maximum frame size

	mu          sync.Mutex
	freed       sync.Cond // signals that parked has decreased or that the client is gone
	parked      int       // number of commands that wait at the gate; parkedBytes is their size
	parkedBytes int
	inFlight    inFlight
	counts      Counts
	user        string
	events      []event              // answers and ends from the broker that the gate has not seen yet
	more        bool                 // the server has received data from the client that it has not parsed yet
	withheld    map[uint16][]*Answer // confirms that will be sent together with the next one, by channel
	draining    bool
	released    bool  // the broker has been told that the connection has ended
	gone        bool  // nothing more will arrive from the client
	over        bool  // the broker has ended the connection
	excess      error // the bound that the client exceeded, for which it was cut off; else nil
}

// event is something that the broker did: it answered or, if answer is nil, ended the connection.
type event struct {
	answer *Answer
	end    error
}

// RemoteAddr is the client's address.
func (c *Conn) RemoteAddr() net.Addr { return c.socket.RemoteAddr() }

// User is the name with which the client has logged in; "" before the login.
func (c *Conn) User() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.user
}

// Behind reports whether the gate has yet to see data that the client has written, or the close of the client's socket.
// It does not count data that cannot reach the gate before a command or answer leaves the gate. If Behind is true,
// caughtUp is called once the gate has seen everything. See [socket.Reader.Behind].
func (c *Conn) Behind(caughtUp func()) bool { return c.reader.Behind(caughtUp) }

// Counts is the traffic of the connection so far.
func (c *Conn) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

// Channels is the number of open channels. A channel that the broker has closed does not count, even before the client
// has acknowledged the close.
func (c *Conn) Channels() (open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.inFlight.channels {
		if ch.open && !ch.closing {
			open++
		}
	}
	return open
}

// Cut closes the client's socket at once. Unwritten output is lost.
func (c *Conn) Cut() {
	c.out.stop()
	c.socket.Close()
}

// HangUp closes the client's socket once all output is written.
func (c *Conn) HangUp() { c.out.finish() }

// Farewell is for a connection that the broker has already closed. It answers the client's channel.close or
// connection.close with the corresponding close-ok, and then closes the client's socket. Without that answer some
// drivers wait forever.
func (c *Conn) Farewell(close *Command) {
	answer := Message{Channel: close.Channel, Method: &frame.ChannelCloseOk{}}
	if close.Method.ID() == frame.ConnectionCloseID {
		answer.Method = &frame.ConnectionCloseOk{}
	}
	c.Answer(answer)
	c.Flush()
	c.HangUp()
}

// Release tells the broker that the connection has ended. Commands of the connection that pass later have no effect.
func (c *Conn) Release() {
	c.mu.Lock()
	released, session := c.released, c.session
	c.released = true
	c.freed.Broadcast()
	c.mu.Unlock()
	if !released && session != nil {
		session.Close()
	}
	c.drain()
	c.Server.forget(c)
}

// Answer is for backends: it records a method that the broker sends to the client, either as a reply or unasked. The
// caller must then call [Conn.Flush], without holding locks.
func (c *Conn) Answer(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer(m)
}

func (c *Conn) answer(m Message) {
	a := &Answer{Message: m, Conn: c}
	closing := c.inFlight.channel(m.Channel).closing
	c.inFlight.answered(a)
	if w, ok := c.session.(witness); ok {
		w.answered(a)
	}
	c.events = append(c.events, event{answer: a})
	// If a channel.close of the client waits at the gate, the broker will not see it. It is answered here.
	if m.Method.ID() == frame.ChannelCloseID && !closing {
		for range c.inFlight.channel(m.Channel).crossing() {
			c.answer(Message{Channel: m.Channel, Method: &frame.ChannelCloseOk{}})
		}
	}
}

// End is for backends: it records that the broker has ended the connection, after all its answers. The caller must then
// call [Conn.Flush].
func (c *Conn) End(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.released {
		return
	}
	c.over = true
	c.events = append(c.events, event{end: reason})
}

// Flush is for backends: it passes to the gate what Answer and End have recorded.
func (c *Conn) Flush() { c.drain() }

// LoggedIn is for backends: it records the client's name.
func (c *Conn) LoggedIn(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user = user
}

// drain passes the recorded events of the broker to the gate, in order.
func (c *Conn) drain() {
	gate := c.Server.gate
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draining {
		return
	}
	c.draining = true
	for len(c.events) > 0 {
		e := c.events[0]
		c.events[0] = event{}
		c.events = c.events[1:]
		c.mu.Unlock()
		if e.answer != nil {
			gate.Answered(e.answer)
		} else {
			gate.BrokerGone(c, e.end)
		}
		c.mu.Lock()
	}
	c.events, c.draining = nil, false
}

// send writes an answer.
func (c *Conn) send(a *Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.settle()
	if c.gone {
		return
	}
	c.writeAnswer(a)
}

// settle records that the answer was sent or lost, and panics if it was before. The caller must hold mu.
func (a *Answer) settle() {
	if a.done {
		panic("wire: an answer was sent that was sent or lost before")
	}
	a.done = true
	a.Conn.inFlight.awaited -= len(a.Settles)
}

// writeOut puts a message into the outbox. The caller must hold mu.
func (c *Conn) writeOut(m *Message) {
	if m.Method.ID() == frame.ConnectionCloseID { // limits the time until the client acknowledges the close
		c.readFor(goodbyeLimit)
	}
	err := c.out.add(func(b []byte) []byte {
		before := len(b)
		b = m.appendTo(b, int(c.frameMax.Load()))
		m.Bytes = len(b) - before
		return b
	})
	c.counts.sent(m)
	if err != nil { // the client has left too many bytes unread
		c.excess = err
		c.Cut()
	}
}

// appendTo appends the message's encoded frames to b.
func (m *Message) appendTo(b []byte, frameMax int) []byte {
	if m.Verbatim != nil {
		return append(b, m.Verbatim...)
	}
	b = frame.AppendMethod(b, m.Channel, m.Method)
	m.Frames = 1
	if m.Content != nil {
		if frameMax == 0 {
			frameMax = MaxFrame
		}
		b = frame.AppendContent(b, m.Channel, m.Content, frameMax)
		m.Frames += 1 + (len(m.Content.Body)+frameMax-frame.Overhead-1)/(frameMax-frame.Overhead)
	}
	return b
}

// passing removes a command from the gate. It reports whether the command goes to the broker; an obsolete one does not.
func (c *Conn) passing(cmd *Command) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inFlight.isNext(cmd) {
		panic(fmt.Sprintf("wire: %s passed before what the client had sent on the channel before it", cmd))
	}
	c.leaves(cmd)
	return !c.released && !cmd.obsolete()
}

// discarded removes a command from the gate that will not reach the broker.
func (c *Conn) discarded(cmd *Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaves(cmd)
}

// leaves removes a command from the gate. The caller must hold mu.
func (c *Conn) leaves(cmd *Command) {
	if cmd.passed {
		panic(fmt.Sprintf("wire: %s passed twice", cmd))
	}
	c.inFlight.leaves(cmd)
	cmd.passed = true
	c.parked--
	c.parkedBytes -= cmd.Bytes
	c.Server.budget.give(cmd.Bytes)
	c.freed.Signal()
}

// Heartbeats is for backends: it sets the interval of heartbeats that client and broker have agreed on. A client that
// is silent for twice the interval counts as dead. 0 means no heartbeats.
func (c *Conn) Heartbeats(every time.Duration) {
	c.out.beat(every / 2)
	c.readEnd.Store(0)
	c.readLimit.Store(int64(2 * every))
	c.socket.SetReadDeadline(time.Time{}) // the deadline of the handshake no longer applies
}

// heartbeat forwards a heartbeat of the broker to the client.
func (c *Conn) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		c.counts.HeartbeatsOut++
		c.counts.Out.add(1, frame.Overhead)
		c.out.add(frame.AppendHeartbeat)
	}
}
