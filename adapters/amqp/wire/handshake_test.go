package wire_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// logins are ways of logging in to a broker, correct and wrong ones.
var logins = []struct {
	name string
	try  func(p *peer) []string
}{
	{"a wrong password", func(p *peer) []string {
		p.hello("guest", "wrong")
		return p.until(0, ConnectionTuneID)
	}},
	{"a wrong password, and no wish to be told", func(p *peer) []string {
		p.write(ProtocolHeader[:])
		p.expect(ConnectionStartID)
		p.send(0, &ConnectionStartOk{Mechanism: "PLAIN", Response: "\x00guest\x00wrong", Locale: "en_US"})
		return p.until(0, ConnectionTuneID)
	}},
	{"AMQPLAIN", func(p *peer) []string {
		p.write(ProtocolHeader[:])
		p.expect(ConnectionStartID)
		response := Table{}.With("LOGIN", "guest").With("PASSWORD", "guest")
		p.send(0, &ConnectionStartOk{Mechanism: "AMQPLAIN", Response: string(response), Locale: "en_US"})
		return p.until(0, ConnectionTuneID)
	}},
	{"a virtual host that is not there", func(p *peer) []string {
		p.hello("guest", "guest")
		p.expect(ConnectionTuneID)
		p.send(0, &ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096}, &ConnectionOpen{VirtualHost: "nowhere"})
		return p.until(0, ConnectionOpenOkID)
	}},
	{"frames too large", tuneTo(ConnectionTuneOk{ChannelMax: 10, FrameMax: 1 << 20})},
	{"frames of any size", tuneTo(ConnectionTuneOk{ChannelMax: 10})},
	{"too many channels", tuneTo(ConnectionTuneOk{ChannelMax: 5000, FrameMax: 4096})},
	{"what says 0-9", func(p *peer) []string {
		p.write(OldHeader[:])
		p.expect(ConnectionStartID)
		p.send(0, &ConnectionStartOk{Mechanism: "PLAIN", Response: "\x00guest\x00guest", Locale: "en_US"})
		return p.until(0, ConnectionTuneID)
	}},
	{"another protocol", func(p *peer) []string {
		p.write([]byte("GET / HTTP/1.1\r\n\r\n"))
		header, err := p.frames.ReadHeader()
		_, end := p.next()
		return []string{fmt.Sprintf("%q %v %s", header, err, ending(end))}
	}},
}

func tuneTo(ok ConnectionTuneOk) func(p *peer) []string {
	return func(p *peer) []string {
		p.hello("guest", "guest")
		p.expect(ConnectionTuneID)
		p.send(0, &ok)
		return p.until(0, ConnectionOpenOkID)
	}
}

// The simulated broker and the proxy accept and refuse logins exactly as RabbitMQ does.
func TestLogins(t *testing.T) {
	simulated := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	real := hostOf(t, rabbitmqtest.URL(t))
	proxy := serve(t, wire.Config{Backend: &wire.Proxy{Address: real}})
	for _, l := range logins {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel() // RabbitMQ delays its answer to a wrong login
			proxied, behind := make(chan []string, 1), dial(t, proxy.Addr().String())
			go func() { proxied <- l.try(behind) }()
			want := l.try(dial(t, real))
			differ(t, "simulated", l.try(dial(t, simulated.Addr().String())), want)
			differ(t, "proxy", <-proxied, want)
		})
	}
}

// The simulated broker takes an empty virtual host for "/", because drivers disagree on the meaning of an address
// without a virtual host.
func TestEmptyVirtualHost(t *testing.T) {
	p := dial(t, serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})}).Addr().String())
	p.hello("guest", "guest")
	p.expect(ConnectionTuneID)
	p.send(0, &ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096}, &ConnectionOpen{})
	p.expect(ConnectionOpenOkID)
}

// A client that is silent before it has logged in is cut off. One that has logged in without heartbeats may be silent.
func TestSilence(t *testing.T) {
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), MaxHandshake: time.Second})
	quiet := dial(t, server.Addr().String()).login()
	stranger := dial(t, server.Addr().String())
	stranger.write(ProtocolHeader[:])
	stranger.expect(ConnectionStartID)
	if m, err := stranger.next(); err == nil {
		t.Fatalf("expected the end of the connection, got %s", stranger.text(m))
	}
	quiet.send(1, &ChannelOpen{})
	quiet.expect(ChannelOpenOkID)
}
