package wire_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// leaving is a gate that reports in why the error with which each client has gone.
type leaving struct {
	wire.Through
	why chan error
}

func (g leaving) ClientGone(c *wire.Conn, err error) {
	c.Release()
	g.why <- err
}

// A client that exceeds a bound is told which one. The gate receives an ErrBound.
func TestBounds(t *testing.T) {
	publish := func(bytes int) func(*peer) {
		return func(p *peer) {
			p.publish(1, &BasicPublish{RoutingKey: "q"}, &Content{Body: make([]byte, bytes)})
		}
	}
	for _, test := range []struct {
		name   string
		config wire.Config
		others int // number of connections that are open already
		do     func(*peer)
		says   string
	}{
		{"a large message", wire.Config{MaxMessage: 9999}, 0, publish(10_000), "506 RESOURCE_ERROR - message size 10000 is larger than the 9999 bytes taken"},
		{"much content", wire.Config{MaxHeld: 9999}, 0, publish(10_000), "506 RESOURCE_ERROR - more than 9999 bytes are on their way from all clients"},
		{"many incomplete messages", wire.Config{MaxMessage: 9999}, 0, func(p *peer) {
			for channel := range uint16(3) {
				b := AppendMethod(nil, channel+1, &BasicPublish{RoutingKey: "q"})
				b = AppendHeader(b, channel+1, &ContentHeader{Class: ContentClass, Size: 4001})
				p.write(Frame{Type: FrameBody, Channel: channel + 1, Payload: make([]byte, 4000)}.Append(b))
			}
		}, "506 RESOURCE_ERROR - more than 9999 bytes of content are incomplete"},
		{"many connections", wire.Config{MaxConnections: 2}, 2, nil, "530 NOT_ALLOWED - access to vhost '/' refused for user 'guest': connection limit (2) is reached"},
	} {
		t.Run(test.name, func(t *testing.T) {
			gate := leaving{why: make(chan error, 8)}
			test.config.Backend, test.config.Gate = wire.NewSimulated(wire.SimulatedOptions{}), gate
			server := serve(t, test.config)
			for range test.others {
				dial(t, server.Addr().String()).login()
			}
			p := dial(t, server.Addr().String())
			p.hello("guest", "guest")
			p.expect(ConnectionTuneID)
			p.send(0, &ConnectionTuneOk{ChannelMax: 7, FrameMax: 4096}, &ConnectionOpen{VirtualHost: "/"})
			if test.do != nil {
				p.expect(ConnectionOpenOkID)
				p.send(1, &ChannelOpen{})
				p.expect(ChannelOpenOkID)
				test.do(p)
			}
			m, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			if said := p.text(m); !strings.Contains(strings.ReplaceAll(said, "ReplyText:", ""), test.says) {
				t.Errorf("%s, expected %s", said, test.says)
			}
			p.socket.Close()
			if err := <-gate.why; !errors.Is(err, wire.ErrBound) {
				t.Errorf("the gate is told %v", err)
			}
		})
	}
}

// The bytes of delivered messages no longer count against MaxHeld. The incomplete messages of a client that has gone do
// not count either.
func TestGivesBack(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), MaxHeld: 60_000})
	for range 20 {
		p := dial(t, server.Addr().String()).login()
		p.send(1, &ChannelOpen{}, &QueueDeclare{Queue: "q", AutoDelete: true})
		p.publish(1, &BasicPublish{RoutingKey: "q"}, &Content{Body: make([]byte, 10_000)})
		p.send(1, &BasicGet{Queue: "q", NoAck: true})
		p.expect(BasicGetOkID)
		b := AppendHeader(AppendMethod(nil, 1, &BasicPublish{RoutingKey: "q"}), 1, &ContentHeader{Class: ContentClass, Size: 9000})
		p.write(Frame{Type: FrameBody, Channel: 1, Payload: make([]byte, 4000)}.Append(b))
		p.socket.Close()
	}
}

// A client that does not read its deliveries is cut off. The gate receives the reason.
func TestUnread(t *testing.T) {
	gate := leaving{why: make(chan error, 1)}
	b := wire.NewSimulated(wire.SimulatedOptions{})
	server := serve(t, wire.Config{Backend: b, Gate: gate, MaxUnread: 1 << 20})
	deaf := dial(t, server.Addr().String()).login()
	deaf.send(1, &ChannelOpen{}, &QueueDeclare{Queue: "q"})
	deaf.expect(QueueDeclareOkID)
	deaf.send(1, &BasicConsume{Queue: "q", NoAck: true})
	deaf.expect(BasicConsumeOkID)
	p := dial(t, server.Addr().String()).login()
	p.send(1, &ChannelOpen{})
	p.expect(ChannelOpenOkID)
	for deadline := time.Now().Add(patience); ; {
		p.publish(1, &BasicPublish{RoutingKey: "q"}, &Content{Body: make([]byte, 100_000)})
		select {
		case err := <-gate.why:
			if !errors.Is(err, wire.ErrBound) || !strings.Contains(err.Error(), "more than 1048576 bytes") {
				t.Errorf("the gate is told %v", err)
			}
			return
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("the client is not cut off")
		}
	}
}

// A client cannot prolong the handshake, or the end of its connection, by sending heartbeats.
func TestNeverDone(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), MaxHandshake: time.Second})
	stranger := dial(t, server.Addr().String())
	stranger.write(ProtocolHeader[:])
	goner := dial(t, server.Addr().String()).login()
	goner.send(1, &QueueDeclare{}) // channel 1 is not open, so the server closes the connection
	for _, p := range []*peer{stranger, goner} {
		p.socket.SetDeadline(time.Time{})
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			if _, err := p.socket.Write(AppendHeartbeat(nil)); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Error("heartbeats alone keep a connection open")
				break
			}
		}
	}
}

// keeping is a gate that holds back deliveries and passes them to the test.
type keeping struct {
	wire.Through
	kept chan *wire.Answer
}

func (g keeping) Answered(a *wire.Answer) {
	if a.Method.ID() == BasicDeliverID {
		g.kept <- a
		return
	}
	a.Send()
}

// A client cannot change the frame size after the handshake. If it tries while a delivery is on its way, the server
// closes the connection.
func TestTunedTwice(t *testing.T) {
	gate := keeping{kept: make(chan *wire.Answer, 1)}
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: gate})
	p := dial(t, server.Addr().String()).login()
	p.send(1, &ChannelOpen{}, &QueueDeclare{Queue: "q"}, &BasicConsume{Queue: "q"})
	p.publish(1, &BasicPublish{RoutingKey: "q"}, &Content{Body: []byte("body")})
	delivery := <-gate.kept
	p.send(0, &ConnectionTuneOk{ChannelMax: 1, FrameMax: Overhead})
	p.until(0, ConnectionCloseID)
	delivery.Send()
}

// A command on a channel that is not open, or beyond the maximum number of channels, ends the connection. Commands
// after it are ignored.
func TestManyChannels(t *testing.T) {
	checkGoroutines(t)
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	p := dial(t, server.Addr().String()).login()
	var b []byte
	for channel := range uint16(2047) {
		b = AppendMethod(b, channel+1, &ChannelOpen{})
	}
	p.write(b)
	for range 2047 {
		p.expect(ChannelOpenOkID)
	}
	p.send(2048, &ChannelOpen{})
	if said := strings.Join(p.until(0, ConnectionCloseID), "\n"); !strings.Contains(said, "2047") {
		t.Errorf("%s, expected the bound in it", said)
	}
	for channel := range uint16(65535) {
		if _, err := p.socket.Write(AppendMethod(nil, channel, &QueueDeclare{})); err != nil {
			return
		}
	}
}

// A channel may have any number up to 65535. The negotiated channel-max limits how many channels are open, as in
// RabbitMQ 3.10.8.
func TestChannelNumbers(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	p := dial(t, server.Addr().String())
	p.hello("guest", "guest")
	p.expect(ConnectionTuneID)
	p.send(0, &ConnectionTuneOk{ChannelMax: 2, FrameMax: 4096}, &ConnectionOpen{VirtualHost: "/"})
	p.expect(ConnectionOpenOkID)
	for _, number := range []uint16{65535, 3} {
		p.send(number, &ChannelOpen{})
		p.expect(ChannelOpenOkID)
	}
	p.send(1, &ChannelOpen{})
	m, err := p.next()
	if err != nil {
		t.Fatal(err)
	}
	const says = "530 NOT_ALLOWED - number of channels opened (2) has reached the negotiated channel_max (2)"
	if said := strings.ReplaceAll(p.text(m), "ReplyText:", ""); !strings.Contains(said, says) {
		t.Errorf("%s, expected %s", said, says)
	}
}
