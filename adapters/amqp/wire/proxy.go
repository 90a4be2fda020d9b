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

// Proxy is a real broker as a [Backend]. Each client has its own connection to the broker, with its own login. The
// proxy forwards the methods of both sides unchanged, one at a time.
//
// A command that passes the gate is written to the broker; it has taken effect once it is answered. A command without
// an answer may take effect after the next command of another connection. Heartbeats bypass the gate in both
// directions. A client whose commands are held at the gate therefore still appears alive to the broker.
type Proxy struct {
	// Address is the broker's host and port.
	Address string
	// Timeout is the maximum time for connecting to the broker; 0 is 5 seconds.
	Timeout time.Duration
	// Declaring is called before a client's declaration of a queue or exchange that outlives its connection is sent to
	// the broker. For a queue that the broker names, it is called once the name is known. One of its two arguments is
	// "". Declaring may be nil.
	Declaring func(queue, exchange string)
}

// declaring calls Declaring, if it is set.
func (p *Proxy) declaring(queue, exchange string) {
	if p.Declaring != nil {
		p.Declaring(queue, exchange)
	}
}

// Verbatim is true: the proxy forwards clients' frames unchanged.
func (p *Proxy) Verbatim() bool { return true }

// Connect opens a connection to the broker for a client.
func (p *Proxy) Connect(c *Conn) (Session, error) {
	return p.connect(c, func(error) {})
}

// connect opens a connection to the broker for a client. ended is called when the broker has ended it.
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
	running atomic.Bool   // the broker has answered connection.open
	leaving atomic.Bool   // the client is gone and leave is closing the connection
	naming  sync.Map      // set of channels on which a queue.declare left the queue's name to the broker
	fenced  atomic.Uint32 // the channel on which fence waits; 0 if it does not wait
	past    chan struct{} // signals that the broker has answered the fence
}

// Handle forwards a command to the broker.
func (x *proxySession) Handle(cmd *Command) {
	if _, ok := cmd.Method.(*frame.ConnectionTuneOk); ok {
		x.c.Heartbeats(0) // broker and client send each other heartbeats themselves
	}
	x.look(cmd)
	if err := x.out.add(func(b []byte) []byte { return append(b, cmd.Verbatim...) }); err != nil { // the broker does not read
		x.socket.Close()
	}
}

// look calls Declaring if a command declares a queue or an exchange that outlives the connection. If the broker is to
// choose the queue's name, lookBack does so later.
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

// lookBack calls Declaring with the name that the broker has chosen for a queue.
func (x *proxySession) lookBack(m *Message) {
	if ok, is := m.Method.(*frame.QueueDeclareOk); is {
		if _, asked := x.naming.LoadAndDelete(m.Channel); asked {
			x.proxy.declaring(ok.Queue, "")
		}
	}
}

// Heartbeat forwards a client's heartbeat to the broker.
func (x *proxySession) Heartbeat() { x.out.add(frame.AppendHeartbeat) }

// Close closes the socket to the broker without connection.close, once all forwarded commands are written.
func (x *proxySession) Close() { x.out.finish() }

// leave closes the broker's connection with connection.close, for a client that did not do so. It waits until the
// broker has released everything that the connection had. It is false if that takes longer than limit.
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

// fence waits until the broker has carried out everything that was sent on a channel, or has closed the channel. It
// sends a channel.flow that changes nothing, and hides the answer from the client. It is false if that takes longer
// than limit.
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

// reached reports whether a method answers the fence's channel.flow, so that it must be hidden. A close of the channel
// or connection ends the fence as well, but is not hidden.
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

// read forwards to the gate what the broker sends, until the connection ends.
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
