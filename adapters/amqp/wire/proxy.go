package wire

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// Proxy is a real broker as a [Backend]. Each client has its own connection to it, with its own login, and each side's
// methods are forwarded unchanged, one at a time.
//
// A command that passes the gate has been written to the broker, and has taken effect when it is answered. A command without
// an answer may take effect after the next command of another connection. Heartbeats bypass the gate in both directions:
// while a client is held at the gate, both sides appear as alive as they are.
type Proxy struct {
	// Address is the broker's host and port.
	Address string
	// Timeout is the maximum time for connecting to the broker; 0 is 5 seconds.
	Timeout time.Duration
	// Declaring is called with each queue or exchange that a client declares and that outlives its connection, before the
	// broker receives the command. For a queue that the broker names, it is called as soon as the name is known. The other
	// argument is "". Declaring may be nil.
	Declaring func(queue, exchange string)
}

// declaring calls Declaring, if it is set.
func (p *Proxy) declaring(queue, exchange string) {
	if p.Declaring != nil {
		p.Declaring(queue, exchange)
	}
}

// Verbatim is true: what clients send is forwarded unchanged.
func (p *Proxy) Verbatim() bool { return true }

// Connect connects to the broker.
func (p *Proxy) Connect(c *Conn) (Session, error) {
	return p.connect(c, func(error) {})
}

// connect connects to the broker. ended is called when the broker has ended the connection.
func (p *Proxy) connect(c *Conn, ended func(error)) (*proxySession, error) {
	timeout := p.Timeout
	if timeout == 0 {
		timeout = 5 * time.Second
	}
	socket, err := net.DialTimeout("tcp", p.Address, timeout)
	if err != nil {
		return nil, fmt.Errorf("connecting to the broker behind the proxy: %w; is it running?", err)
	}
	x := &proxySession{proxy: p, c: c, socket: socket, out: newOutbox(c.Server), ended: ended, over: make(chan struct{}), past: make(chan struct{}, 1)}
	x.out.add(func(b []byte) []byte { return append(b, frame.ProtocolHeader[:]...) })
	c.Server.tasks.Go(x.write)
	c.Server.tasks.Go(x.read)
	return x, nil
}

// proxySession is a connection to a real broker.
type proxySession struct {
	proxy   *Proxy
	c       *Conn
	socket  net.Conn
	out     *outbox
	ended   func(error)
	over    chan struct{} // closed when the broker will send nothing more
	running atomic.Bool   // the connection is open
	leaving atomic.Bool   // the client is gone, and the connection is being closed
	naming  sync.Map      // by channel: the broker is to name a queue
	fenced  atomic.Uint32 // the channel of the current fence; 0 is none
	past    chan struct{} // the broker has reached the fence
}

// Handle forwards a command.
func (x *proxySession) Handle(cmd *Command) {
	if _, ok := cmd.Method.(*frame.ConnectionTuneOk); ok {
		x.c.Heartbeats(0) // the broker and the client handle them
	}
	x.look(cmd)
	if err := x.out.add(func(b []byte) []byte { return append(b, cmd.Verbatim...) }); err != nil { // the broker does not read
		x.socket.Close()
	}
}

// look records what a command creates that outlives the connection.
func (x *proxySession) look(cmd *Command) {
	switch m := cmd.Method.(type) {
	case *frame.QueueDeclare:
		switch {
		case m.Passive || m.Exclusive:
		case m.Queue == "":
			x.naming.Store(cmd.Channel, true)
		default:
			x.proxy.declaring(m.Queue, "")
		}
	case *frame.ExchangeDeclare:
		if !m.Passive && m.Exchange != "" {
			x.proxy.declaring("", m.Exchange)
		}
	}
}

// lookBack records the name that the broker has given to a queue.
func (x *proxySession) lookBack(m *Message) {
	if ok, is := m.Method.(*frame.QueueDeclareOk); is {
		if _, asked := x.naming.LoadAndDelete(m.Channel); asked {
			x.proxy.declaring(ok.Queue, "")
		}
	}
}

// Heartbeat forwards a heartbeat.
func (x *proxySession) Heartbeat() { x.out.add(frame.AppendHeartbeat) }

// Close closes the socket to the broker abruptly, after everything that has passed is written.
func (x *proxySession) Close() { x.out.finish() }

// leave closes the connection to the broker in good order, for a client that did not, and waits until the broker has dropped
// everything of it. It is false if that takes longer than limit.
func (x *proxySession) leave(limit time.Duration) bool {
	defer x.out.finish()
	if !x.running.Load() {
		return true
	}
	x.leaving.Store(true)
	x.out.add(func(b []byte) []byte {
		return frame.AppendMethod(b, 0, &frame.ConnectionClose{ReplyCode: uint16(amqp.ReplySuccess), ReplyText: "the client is gone"})
	})
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-x.over:
		return true
	case <-late.C:
		return false
	}
}

// fence waits until the broker has carried out everything that was sent on an open channel, or has closed the channel. It
// sends a channel.flow that changes nothing, and hides its answer from the client. It is false if that takes longer than
// limit.
func (x *proxySession) fence(channel uint16, limit time.Duration) bool {
	x.fenced.Store(uint32(channel))
	x.out.add(func(b []byte) []byte { return frame.AppendMethod(b, channel, &frame.ChannelFlow{Active: true}) })
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-x.past:
		return true
	case <-x.over:
		return true
	case <-late.C:
		return !x.fenced.CompareAndSwap(uint32(channel), 0)
	}
}

// reached reports whether a method is the broker's answer to the fence. If the broker has closed the channel or the
// connection, no other answer will come.
func (x *proxySession) reached(m *Message) (fence bool) {
	switch m.Method.ID() {
	case frame.ChannelFlowOkID:
		fence = true
	case frame.ChannelCloseID, frame.ConnectionCloseID:
	default:
		return false
	}
	at := x.fenced.Load()
	if at == 0 || m.Channel != 0 && uint32(m.Channel) != at || !x.fenced.CompareAndSwap(at, 0) {
		return false
	}
	x.past <- struct{}{}
	return fence
}

func (x *proxySession) write() {
	x.out.run(x.socket, func() {})
	x.socket.Close()
}

// read forwards what the broker sends until its end.
func (x *proxySession) read() {
	err := x.relay()
	x.out.stop()
	if !x.leaving.Load() {
		x.ended(err)
	}
	close(x.over)
	x.c.End(err)
	x.c.Flush()
}

func (x *proxySession) relay() error {
	in := frame.NewReader(x.socket, maxFrameTaken)
	a := assembler{keep: true, limit: x.c.Server.config.MaxMessage, budget: &x.c.Server.budget}
	defer a.drop()
	for {
		f, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading from the broker behind the proxy: %w", err)
		}
		if f.Type == frame.FrameHeartbeat {
			x.c.heartbeat()
			continue
		}
		m, err := a.add(f)
		if err != nil {
			return fmt.Errorf("reading from the broker behind the proxy: %w", err)
		}
		switch {
		case m == nil, x.reached(m):
		case !x.leaving.Load():
			x.running.Store(x.running.Load() || m.Method.ID() == frame.ConnectionOpenOkID)
			x.lookBack(m)
			x.c.Answer(*m)
			x.c.Flush()
		case m.Method.ID() == frame.ConnectionCloseOkID || m.Method.ID() == frame.ConnectionCloseID:
			return nil
		}
	}
}
