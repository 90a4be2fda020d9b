package wire

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// errUnknownProtocol is the error for a client that does not begin with the protocol header of AMQP 0-9-1.
var errUnknownProtocol = errors.New("the client does not speak AMQP 0-9-1")

// setDeadline sets the deadline for the client's next data. The deadline is at most end, in nanoseconds since 1970,
// unless that is 0.
func (c *Conn) setDeadline(end int64) {
	limit := c.readLimit.Load()
	if limit > 0 {
		limit += time.Now().UnixNano()
	}
	if end > 0 && (limit == 0 || end < limit) {
		limit = end
	}
	if limit > 0 {
		c.socket.SetReadDeadline(time.Unix(0, limit))
	}
}

// readFor limits the total time for reading from the client, no matter how often it sends.
func (c *Conn) readFor(limit time.Duration) {
	c.readEnd.Store(time.Now().Add(limit).UnixNano())
	c.setDeadline(c.readEnd.Load())
}

// source reads from the socket and ends a connection whose client is silent for too long.
type source struct{ c *Conn }

func (s source) Read(b []byte) (int, error) {
	c := s.c
	for again := true; again; {
		end := c.readEnd.Load()
		c.setDeadline(end)
		again = c.readEnd.Load() != end
	}
	n, err := c.reader.Read(b)
	c.mu.Lock()
	c.counts.In.Bytes += n
	c.mu.Unlock()
	return n, err
}

// serve reads what the client sends until the connection ends. It then waits for the writing goroutine and reports to
// the gate.
func (c *Conn) serve() {
	gate := c.Server.gate
	c.readFor(c.Server.config.MaxHandshake)
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	gate.Opened(c)
	err := c.read()
	c.mu.Lock()
	if c.excess != nil {
		err = c.excess
	}
	c.gone = true
	if c.counts.Opened > 0 {
		c.counts.Closed = 1
	}
	c.freed.Broadcast()
	c.mu.Unlock()
	c.out.finish()
	<-written
	c.socket.Close()
	gate.ClientGone(c, err)
	c.reader.Done()
	c.Server.forget(c)
}

// write writes until the outbox ends.
func (c *Conn) write() {
	err := c.out.run(c.socket, func() {
		c.mu.Lock()
		c.counts.HeartbeatsOut++
		c.counts.Out.add(1, frame.Overhead)
		c.mu.Unlock()
	})
	signal(c.out.room)
	if half, ok := c.socket.(interface{ CloseWrite() error }); ok && err == nil {
		half.CloseWrite()
	}
	// Closing a socket with unread input would discard what was just written.
	c.readFor(goodbyeLimit)
}

// read reads and handles frames until the client is gone or is cut off.
func (c *Conn) read() error {
	header, err := c.in.ReadHeader()
	if err != nil {
		return fmt.Errorf("reading the protocol's header: %w", err)
	}
	if header != frame.ProtocolHeader && header != frame.OldHeader {
		c.out.add(func(b []byte) []byte { return append(b, frame.ProtocolHeader[:]...) })
		c.HangUp()
		c.rest()
		return errUnknownProtocol
	}
	session, err := c.Server.config.Backend.Connect(c)
	if err != nil {
		return err
	}
	c.begin(session)
	a := assembler{keep: c.Server.config.Backend.Verbatim(), limit: c.Server.config.MaxMessage, budget: &c.Server.budget}
	defer a.drop()
	for {
		c.relent()
		f, err := c.in.Next()
		var m *Message
		if err == nil {
			m, err = c.take(&a, f)
		}
		switch r := asRefusal(err); {
		case r != nil:
			a.drop()
			c.refuse(r)
			return r
		case err != nil:
			return err
		case m != nil:
			if r := c.arrive(m); r != nil {
				c.refuse(r)
				return r
			}
		}
	}
}

// asRefusal is the reason to close the connection because of an error in what the client sent; nil if the error is the
// socket's.
func asRefusal(err error) *refusal {
	if e, ok := errors.AsType[*frame.Error](err); ok {
		return refused(e)
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	return nil
}

// take counts a frame and adds it to its message. It returns the message if it is complete.
func (c *Conn) take(a *assembler, f frame.Frame) (*Message, error) {
	c.mu.Lock()
	c.counts.In.Frames++
	c.more = c.in.Buffered() > 0
	if f.Type == frame.FrameHeartbeat {
		c.counts.HeartbeatsIn++
	}
	c.mu.Unlock()
	if f.Type == frame.FrameHeartbeat {
		c.session.Heartbeat()
		return nil, nil
	}
	return a.add(f)
}

// arrive passes a command to the gate. Commands that the gate does not decide on go to the broker at once.
func (c *Conn) arrive(m *Message) *refusal {
	c.tune(m.Method)
	if r := c.refuseOpen(m.Method); r != nil {
		r.method = m.Method.ID()
		return r
	}
	cmd := &Command{Message: *m, Conn: c}
	c.mu.Lock()
	c.counts.received(m)
	gated := c.inFlight.arrived(cmd)
	if gated {
		c.parked++
		c.parkedBytes += m.Bytes
		if cmd.Replies && c.inFlight.awaited == 1 {
			c.counts.RoundTrips++
		}
	}
	c.mu.Unlock()
	if !gated {
		c.past(cmd)
		return nil
	}
	if r := c.Server.budget.take(m.Bytes); r != nil {
		c.Server.budget.give(m.Bytes)
		r.method = m.Method.ID()
		return r
	}
	c.Server.gate.Arrived(cmd)
	c.hold()
	return nil
}

// hold pauses reading from the client while too many of its commands wait at the gate, or while it has left too many
// bytes unread.
func (c *Conn) hold() {
	full := func() bool { return (c.parked >= MaxParked || c.parkedBytes > maxParkedBytes) && !c.released }
	c.mu.Lock()
	wait := full()
	c.mu.Unlock()
	if !wait && c.out.waiting() <= maxUnread {
		return
	}
	c.reader.Stalled()
	c.mu.Lock()
	for full() {
		c.freed.Wait()
	}
	c.mu.Unlock()
	for c.out.waiting() > maxUnread {
		<-c.out.room
	}
	c.reader.Goes()
}

// tune stores the frame size of the client's first tune-ok. Later ones are ignored.
func (c *Conn) tune(m frame.Method) {
	ok, is := m.(*frame.ConnectionTuneOk)
	if !is || c.tuned {
		return
	}
	c.tuned = true
	if size := int64(ok.FrameMax); size > 0 {
		c.frameMax.Store(max(size, frame.FrameMinSize))
	}
	c.in.Max = int(min(ok.FrameMax-1, maxFrameTaken-1)) + 1 // a frame-max of 0 means no limit
}

// past passes a command to the broker without the gate.
func (c *Conn) past(cmd *Command) {
	c.mu.Lock()
	pass := !c.released
	c.mu.Unlock()
	if pass {
		c.session.Handle(cmd)
		c.drain()
	}
}

// begin sets the connection's session on the broker.
func (c *Conn) begin(session Session) {
	c.mu.Lock()
	c.session = session
	released := c.released
	c.mu.Unlock()
	if released { // Release was called while the session was being created
		session.Close()
	}
	c.drain()
}

// refuse closes the connection because of an error in what the client has sent, and tells the broker that it has ended.
func (c *Conn) refuse(r *refusal) {
	c.mu.Lock()
	if !c.inFlight.closing {
		c.answer(r.connectionClose())
	}
	c.mu.Unlock()
	c.drain()
	c.Release()
	c.rest()
	c.mu.Lock()
	c.events = append(c.events, event{end: r})
	c.mu.Unlock()
	c.drain()
}

// connectionClose is the method that closes a client's connection.
func (r *refusal) connectionClose() Message {
	return Message{Method: &frame.ConnectionClose{
		ReplyCode: uint16(r.code), ReplyText: r.fullText(), ClassID: r.method.Class(), MethodID: r.method.Method(),
	}}
}

// rest reads and discards input until the client has acknowledged the close of the connection, for at most
// goodbyeLimit.
func (c *Conn) rest() {
	c.readFor(goodbyeLimit)
	for {
		f, err := c.in.Next()
		if err == nil && f.Type == frame.FrameMethod {
			m, _ := frame.ReadMethod(f.Payload)
			switch m.(type) {
			case *frame.ConnectionCloseOk, *frame.ConnectionClose:
				return
			}
		}
		if err == nil {
			continue
		}
		if _, bad := errors.AsType[*frame.Error](err); bad {
			c.HangUp() // no close-ok can be recognised without frame boundaries
			io.Copy(io.Discard, c.socket)
		}
		return
	}
}
