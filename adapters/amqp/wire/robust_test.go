package wire_test

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	. "github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// checkGoroutines fails the test if, at its end, more goroutines run than at its start.
func checkGoroutines(t testing.TB) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(deadline) {
				b := make([]byte, 1<<16)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
			}
		}
	})
}

// Invalid frames end the connection with the right reply code, and nothing follows the close.
func TestWrongBytes(t *testing.T) {
	checkGoroutines(t)
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	publish := AppendMethod(nil, 1, &BasicPublish{RoutingKey: "q"})
	header := func(size uint64) []byte {
		return AppendHeader(nil, 1, &ContentHeader{Class: ContentClass, Size: size})
	}
	body := Frame{Type: FrameBody, Channel: 1, Payload: []byte("body")}.Append(nil)
	for _, test := range []struct {
		name  string
		bytes []byte
		says  string
	}{
		{"oversized", []byte{FrameBody, 0, 1, 0xff, 0xff, 0xff, 0xff}, "501 FRAME_ERROR"},
		{"unknown type", []byte{9, 0, 1, 0, 0, 0, 0, FrameEnd}, "501 FRAME_ERROR"},
		{"no end", []byte{FrameHeartbeat, 0, 0, 0, 0, 0, 0, 0}, "501 FRAME_ERROR"},
		{"no method", Frame{Type: FrameMethod, Channel: 1}.Append(nil), "501 FRAME_ERROR"},
		{"unknown method", Frame{Type: FrameMethod, Channel: 1, Payload: []byte{0, 99, 0, 99}}.Append(nil), "503 COMMAND_INVALID"},
		{"arguments cut", Frame{Type: FrameMethod, Channel: 1, Payload: []byte{0, 50, 0, 10, 0}}.Append(nil), "502 SYNTAX_ERROR"},
		{"a header without its method", header(1), "505 UNEXPECTED_FRAME - expected method frame"},
		{"a body without its method", body, "505 UNEXPECTED_FRAME - expected method frame"},
		{"a body without its header", append(publish[:len(publish):len(publish)], body...), "505 UNEXPECTED_FRAME - expected content header"},
		{"a method instead of a header", append(publish[:len(publish):len(publish)], publish...), "505 UNEXPECTED_FRAME - expected content header"},
		{"a second header", append(append(publish[:len(publish):len(publish)], header(9)...), header(9)...), "505 UNEXPECTED_FRAME - expected content body"},
		{"more body than announced", append(append(publish[:len(publish):len(publish)], header(3)...), body...), "501 FRAME_ERROR"},
		{"a message beyond all bounds", append(publish[:len(publish):len(publish)], header(1<<40)...), "506 RESOURCE_ERROR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := dial(t, server.Addr().String()).login()
			p.send(1, &ChannelOpen{})
			p.expect(ChannelOpenOkID)
			p.write(test.bytes)
			m, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			c := m.method.(*ConnectionClose)
			if got := fmt.Sprintf("%d %s", c.ReplyCode, c.ReplyText); !strings.HasPrefix(got, test.says) {
				t.Errorf("%s, expected %s", got, test.says)
			}
			if _, err := p.next(); err != io.EOF {
				t.Errorf("%v after the goodbye, expected the end", err)
			}
		})
	}
}

// A connection that ends after any number of bytes leaves no goroutine behind.
func TestTruncated(t *testing.T) {
	checkGoroutines(t)
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	said := session()
	for n := range said {
		socket, err := net.Dial("tcp", server.Addr().String())
		must(t, err)
		socket.Write(said[:n])
		socket.Close()
	}
}

// session is everything that a client sends in a short session, from the protocol header to a heartbeat.
func session() []byte {
	b := append([]byte{}, ProtocolHeader[:]...)
	b = AppendMethod(b, 0, &ConnectionStartOk{Mechanism: "PLAIN", Response: "\x00guest\x00guest", Locale: "en_US"})
	b = AppendMethod(b, 0, &ConnectionTuneOk{ChannelMax: 7, FrameMax: 4096, Heartbeat: 1})
	b = AppendMethod(b, 0, &ConnectionOpen{VirtualHost: "/"})
	b = AppendMethod(b, 1, &ChannelOpen{})
	b = AppendMethod(b, 1, &QueueDeclare{Queue: "q", Arguments: with("x-max-length", int32(1))})
	b = AppendMethod(b, 1, &BasicConsume{Queue: "q", ConsumerTag: "c"})
	b = AppendMethod(b, 1, &BasicPublish{RoutingKey: "q"})
	b = AppendContent(b, 1, &Content{Body: []byte("body")}, 4096)
	return AppendHeartbeat(b)
}

// A thousand connections, two thirds of them without connection.close, leave no goroutine and no open connection
// behind.
func TestThousandConnections(t *testing.T) {
	checkGoroutines(t)
	b := wire.NewSimulated(wire.SimulatedOptions{})
	server := serve(t, wire.Config{Backend: b})
	var clients sync.WaitGroup
	tokens := make(chan struct{}, 100) // at most 100 connections at once
	for i := range 1000 {
		tokens <- struct{}{}
		clients.Go(func() {
			defer func() { <-tokens }()
			p := dial(t, server.Addr().String())
			defer p.socket.Close()
			if i%3 == 0 {
				return
			}
			p.login()
			p.send(1, &ChannelOpen{}, &QueueDeclare{Queue: fmt.Sprint("q", i), Exclusive: true})
			p.expect(QueueDeclareOkID)
			if i%3 == 1 {
				p.logout()
			}
		})
	}
	clients.Wait()
	for deadline := time.Now().Add(patience); server.Counts().Closed < 666; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are closed, expected 666", server.Counts().Closed)
		}
	}
	if c := server.Counts(); c.Opened != 666 || c.Method(QueueDeclareID).Received != 666 {
		t.Errorf("%d connections, %d queues", c.Opened, c.Method(QueueDeclareID).Received)
	}
}

// The server stops reading from a client that does not read what it is sent.
func TestDeaf(t *testing.T) {
	checkGoroutines(t)
	server := serve(t, wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{})})
	p := dial(t, server.Addr().String()).login()
	p.send(1, &ChannelOpen{})
	p.expect(ChannelOpenOkID)
	var b []byte
	for range 1000 {
		b = AppendMethod(b, 1, &BasicPublish{RoutingKey: "nowhere", Mandatory: true})
		b = AppendContent(b, 1, &Content{Body: make([]byte, 3000)}, 4096)
	}
	p.socket.SetWriteDeadline(time.Now().Add(patience))
	written := 0
	for { // until the server reads no more
		p.socket.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		n, err := p.socket.Write(b)
		written += n
		if err != nil {
			break
		}
		if written > 1<<28 {
			t.Fatalf("%d bytes were taken from a client that does not read", written)
		}
	}
}

// tardy is a gate that lets a command pass when the next one arrives or the client is gone. It drops every third
// command. It sends answers at once.
type tardy struct {
	wire.Through
	mu   sync.Mutex
	last *wire.Command
	n    int
}

func (g *tardy) Arrived(c *wire.Command) {
	g.mu.Lock()
	before := g.last
	g.last = c
	g.n++
	forget := g.n%3 == 0
	g.mu.Unlock()
	if before == nil {
		return
	}
	if forget {
		before.Discard()
	} else {
		before.Pass()
	}
}

func (g *tardy) ClientGone(c *wire.Conn, _ error) {
	g.mu.Lock()
	last := g.last
	g.last = nil
	g.mu.Unlock()
	if last != nil {
		last.Pass()
	}
	c.Release()
}

// FuzzServer checks that no input makes the server panic or leaves a goroutine behind. The input comes before or after
// the login, with and without a gate that delays commands.
func FuzzServer(f *testing.F) {
	said := session()[len(ProtocolHeader):]
	f.Add(said, false, false)
	f.Add(said[:len(said)/2], false, true)
	f.Add(append(said[:len(said):len(said)], 9, 0, 1, 0, 0, 0, 0, FrameEnd), false, true)
	f.Add([]byte{FrameBody, 0, 1, 0xff, 0xff, 0xff, 0xff}, false, false)
	f.Add(AppendMethod(nil, 0, &QueueDeclare{Queue: "q"}), true, true)
	f.Add(AppendMethod(nil, 0, &ConnectionTuneOk{ChannelMax: 1, FrameMax: Overhead}), true, false)
	f.Add(AppendMethod(AppendMethod(nil, 0, &ConnectionClose{}), 1, &QueueDeclare{Queue: "q"}), true, true)
	f.Add(AppendMethod(AppendMethod(nil, 9, &ChannelOpen{}), 9, &ChannelClose{}), true, true)
	f.Add(AppendHeartbeat(AppendHeartbeat(nil)), true, false)
	f.Add(AppendMethod(nil, 1, &BasicPublish{RoutingKey: "q"}), true, true)
	f.Fuzz(func(t *testing.T, said []byte, within, gated bool) {
		checkGoroutines(t)
		config := wire.Config{
			Backend:    wire.NewSimulated(wire.SimulatedOptions{MaxMessages: 1 << 20}),
			MaxMessage: 1 << 16, MaxHeld: 1 << 17, MaxUnread: 1 << 17, MaxHandshake: time.Second,
		}
		if gated {
			config.Gate = new(tardy)
		}
		server, err := wire.Listen("127.0.0.1:0", config)
		if err != nil {
			t.Skip(err) // the system may have run out of ports
		}
		defer server.Close()
		socket, err := net.Dial("tcp", server.Addr().String())
		if err != nil {
			t.Skip(err)
		}
		defer socket.Close()
		socket.Write(ProtocolHeader[:])
		if within {
			socket.Write(session()[len(ProtocolHeader):])
		}
		socket.Write(said)
		socket.(*net.TCPConn).CloseWrite()
		socket.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, socket); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("the server did not hang up: %v", err)
		}
	})
}
