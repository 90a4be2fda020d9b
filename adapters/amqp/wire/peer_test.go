package wire_test

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// patience is the maximum time that a test waits for an expected event.
const patience = 10 * time.Second

// peer is a test client that sends what the test says and returns what it receives.
type peer struct {
	t      testing.TB
	socket net.Conn
	frames *frame.Reader
	prefix string // replaces $ at the start of names
	gone   bool
}

// dial opens a connection, without sending anything.
func dial(t testing.TB, address string) *peer {
	t.Helper()
	return dialBy(t, net.Dial, address)
}

// dialBy opens a connection with the given dial function, without sending anything.
func dialBy(t testing.TB, way func(network, address string) (net.Conn, error), address string) *peer {
	t.Helper()
	socket, err := way("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, socket: socket, frames: frame.NewReader(socket, 1<<17), prefix: "$"}
	t.Cleanup(func() { socket.Close() })
	return p
}

// login takes the peer through the handshake.
func (p *peer) login() *peer {
	p.t.Helper()
	p.hello("guest", "guest")
	p.expect(frame.ConnectionTuneID)
	p.send(0, &frame.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 1 << 17}, &frame.ConnectionOpen{VirtualHost: "/"})
	p.expect(frame.ConnectionOpenOkID)
	return p
}

// hello sends the protocol header, and start-ok with a user and a password.
func (p *peer) hello(user, password string) {
	p.t.Helper()
	p.write(frame.ProtocolHeader[:])
	p.expect(frame.ConnectionStartID)
	capabilities := frame.Table{}.With("consumer_cancel_notify", true).With("authentication_failure_close", true)
	p.send(0, &frame.ConnectionStartOk{
		ClientProperties: frame.Table{}.With("capabilities", capabilities), Mechanism: "PLAIN",
		Response: "\x00" + user + "\x00" + password, Locale: "en_US",
	})
}

// logout closes the connection and waits for the broker's close-ok.
func (p *peer) logout() {
	if !p.gone {
		p.send(0, &frame.ConnectionClose{ReplyCode: 200})
		p.until(0, frame.ConnectionCloseOkID)
		p.socket.Close()
		p.gone = true
	}
}

func (p *peer) write(b []byte) {
	p.socket.SetDeadline(time.Now().Add(patience))
	p.socket.Write(b) // an error shows in the next read
}

// send writes several methods with one call of Write.
func (p *peer) send(channel uint16, methods ...frame.Method) {
	var b []byte
	for _, m := range methods {
		b = frame.AppendMethod(b, channel, p.named(m))
	}
	p.write(b)
}

// publish sends a method with content.
func (p *peer) publish(channel uint16, m frame.Method, c *frame.Content) {
	b := frame.AppendMethod(nil, channel, p.named(m))
	p.write(frame.AppendContent(b, channel, c, 4096))
}

// named is the method with $ replaced by the prefix in every name that begins with $.
func (p *peer) named(m frame.Method) frame.Method {
	v := reflect.New(reflect.TypeOf(m).Elem())
	v.Elem().Set(reflect.ValueOf(m).Elem())
	for i := range v.Elem().NumField() {
		if f := v.Elem().Field(i); f.Kind() == reflect.String && strings.HasPrefix(f.String(), "$") {
			f.SetString(p.prefix + f.String()[1:])
		}
	}
	return v.Interface().(frame.Method)
}

// message is a method that a peer received, with its content.
type message struct {
	channel uint16
	method  frame.Method
	content *frame.Content
}

// next is the next method that the peer receives. It skips heartbeats and answers closes.
func (p *peer) next() (message, error) {
	p.socket.SetDeadline(time.Now().Add(patience))
	for {
		f, err := p.frames.Next()
		if err != nil {
			p.gone = true
			return message{}, err
		}
		if f.Type != frame.FrameMethod {
			continue
		}
		m, err := frame.ReadMethod(f.Payload)
		if err != nil {
			return message{}, err
		}
		got := message{channel: f.Channel, method: m}
		if m.ID().HasContent() {
			got.content, err = p.content()
		}
		switch m.(type) {
		case *frame.ChannelClose:
			p.send(f.Channel, &frame.ChannelCloseOk{})
		case *frame.ConnectionClose:
			p.send(0, &frame.ConnectionCloseOk{})
		}
		return got, err
	}
}

func (p *peer) content() (*frame.Content, error) {
	f, err := p.frames.Next()
	if err != nil {
		return nil, err
	}
	h, err := frame.ReadHeader(f.Payload)
	if err != nil {
		return nil, err
	}
	c := &frame.Content{Properties: h.Properties}
	for uint64(len(c.Body)) < h.Size {
		f, err := p.frames.Next()
		if err != nil {
			return nil, err
		}
		c.Body = append(c.Body, f.Payload...)
	}
	return c, nil
}

// expect reads until the given method arrives. It fails the test if the channel or connection ends first.
func (p *peer) expect(id frame.ID) frame.Method {
	p.t.Helper()
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", id, err)
		}
		if m.method.ID() == id {
			return m.method
		}
		switch m.method.(type) {
		case *frame.ChannelClose, *frame.ConnectionClose:
			p.t.Fatalf("waiting for %s: %s", id, p.text(m))
		}
	}
}

// until reads until one of the given methods arrives, or the channel or connection ends. It returns one line for each
// method received.
func (p *peer) until(channel uint16, ids ...frame.ID) []string {
	var lines []string
	for {
		m, err := p.next()
		if err != nil {
			return append(lines, ending(err))
		}
		lines = append(lines, p.text(m))
		switch id := m.method.ID(); {
		case id == frame.ConnectionCloseID:
			p.gone = true
			p.socket.Close()
			return lines
		case id == frame.ChannelCloseID && m.channel == channel:
			return lines
		default:
			for _, wanted := range ids {
				if id == wanted {
					return lines
				}
			}
		}
	}
}

// ending describes an error in the terms in which brokers can be compared: "silence" for a timeout, otherwise "end".
func ending(err error) string {
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "silence"
	}
	return "end"
}

// text describes a message in one line.
func (p *peer) text(m message) string {
	line := fmt.Sprintf("%d %s %+v", m.channel, m.method.ID(), reflect.ValueOf(m.method).Elem())
	if m.content != nil {
		c := *m.content
		line += fmt.Sprintf(" %d %q %d bytes %.40q", c.Properties.DeliveryMode, c.Properties.Expiration, len(c.Body), c.Body)
		for name, value := range c.Properties.Headers.All() {
			line += fmt.Sprintf(" %s=%s", name, headerText(value))
		}
	}
	return strings.ReplaceAll(line, p.prefix, "$")
}

// headerText is the text of a header's value, with "time" for every timestamp.
func headerText(value any) string {
	var words []string
	switch v := value.(type) {
	case frame.Table:
		for name, value := range v.All() {
			words = append(words, name+":"+headerText(value))
		}
	case frame.Array:
		for value := range v.All() {
			words = append(words, headerText(value))
		}
	case frame.Timestamp:
		return "time"
	default:
		return fmt.Sprintf("%T %v", value, value)
	}
	return fmt.Sprint(words)
}
