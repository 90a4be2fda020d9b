package wire_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// tally is a gate that lets everything through, counts the commands and notes when the client is gone.
type tally struct {
	wire.Through
	conn    atomic.Pointer[wire.Conn]
	arrived atomic.Int64
	gone    atomic.Bool
}

func (g *tally) Opened(c *wire.Conn) { g.conn.Store(c) }

func (g *tally) Arrived(c *wire.Command) {
	g.arrived.Add(1)
	g.Through.Arrived(c)
}

func (g *tally) ClientGone(c *wire.Conn, err error) {
	g.gone.Store(true)
	g.Through.ClientGone(c, err)
}

// catchUp waits until the gate has seen everything that the client has written.
func catchUp(t *testing.T, c *wire.Conn) {
	t.Helper()
	caughtUp := make(chan struct{}, 1)
	for c.Behind(func() { caughtUp <- struct{}{} }) {
		select {
		case <-caughtUp:
		case <-time.After(patience):
			t.Fatal("nobody says that the gate has caught up")
		}
	}
}

// Once Behind is false, the gate has seen every command that the client has written, and the close of its socket.
func TestBehind(t *testing.T) {
	for name, way := range map[string]func(network, address string) (net.Conn, error){"socket": net.Dial, "memory": wire.Dial} {
		t.Run(name, func(t *testing.T) { behind(t, way) })
	}
}

func behind(t *testing.T, way func(network, address string) (net.Conn, error)) {
	gate := new(tally)
	server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: wire.NewSimulated(wire.SimulatedOptions{}), Gate: gate})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p := dialBy(t, way, server.Addr().String()).login()
	p.send(1, &frame.ChannelOpen{})
	p.expect(frame.ChannelOpenOkID)
	c := gate.conn.Load()
	catchUp(t, c)
	before := gate.arrived.Load()
	for i := range int64(500) {
		p.publish(1, &frame.BasicPublish{RoutingKey: "nowhere"}, &frame.Content{Body: []byte("x")})
		catchUp(t, c)
		if n := gate.arrived.Load() - before; n != i+1 {
			t.Fatalf("%d messages at the gate, %d written", n, i+1)
		}
	}
	p.socket.Close()
	if catchUp(t, c); !gate.gone.Load() {
		t.Error("the gate does not know that the socket is closed")
	}
}
