package rabbitmq

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/internal/boundtest"
	"github.com/lockproof/lockproof/model/amqp"
)

// amqpStart is a valid connection.start of a broker, without server properties.
const amqpStart = "\x01\x00\x00\x00\x00\x00\x1c\x00\x0a\x00\x0a\x00\x09\x00\x00\x00\x00\x00\x00\x00\x05PLAIN\x00\x00\x00\x05en_US\xce"

// Dial gives up a broker that is silent, sends single bytes slowly or sends without end. It does so in bounded time and
// memory.
func TestHostile(t *testing.T) {
	all := append(boundtest.All(amqpStart, amqpStart),
		boundtest.Hostile{Name: "a frame of 4 GB", Endless: "\x01\x00\x00\xff\xff\xff\xff"},
		boundtest.Hostile{Name: "heartbeats", Greeting: amqpStart, Endless: "\x08\x00\x00\x00\x00\x00\x00\xce", Asked: true})
	boundtest.Refused(t, all, time.Minute, func(address string) error {
		c, err := Dial(t.Context(), "amqp://"+address+"/%2F", new(amqp.Names))
		if err == nil {
			c.Close()
		}
		return err
	})
}

// The error names the limit that the broker has exceeded, even if the driver reports another error.
func TestExceededIsSaid(t *testing.T) {
	for _, c := range []struct {
		does boundtest.Hostile
		says []string // texts, one of which the error must contain
	}{
		// On a busy machine, the time limit is exceeded first.
		{boundtest.Hostile{Name: "heartbeats", Greeting: amqpStart, Endless: "\x08\x00\x00\x00\x00\x00\x00\xce", Asked: true}, []string{"sent more than 64 MiB", "within 5s"}},
		{boundtest.Hostile{Name: "silence"}, []string{"within 5s"}},
	} {
		address := boundtest.Serve(t, c.does)
		_, err := greet(t.Context(), "amqp://"+address+"/%2F")
		if !errors.Is(err, bound.ErrServer) || !slices.ContainsFunc(c.says, func(says string) bool { return strings.Contains(err.Error(), says) }) {
			t.Errorf("%s: %v", c.does.Name, err)
		}
	}
}

// A broker that opens the connection and then sends only heartbeats cannot block greet forever.
func TestHeartThatBeats(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 1<<16)
		for _, says := range []string{amqpStart, "\x01\x00\x00\x00\x00\x00\x0c\x00\x0a\x00\x1e\x00\x00\x00\x02\x00\x00\x00\x3c\xce", "\x01\x00\x00\x00\x00\x00\x05\x00\x0a\x00\x29\x00\xce"} {
			_, _ = conn.Read(buf)
			_, _ = io.WriteString(conn, says)
		}
		for err == nil {
			time.Sleep(100 * time.Millisecond)
			_, err = io.WriteString(conn, "\x08\x00\x00\x00\x00\x00\x00\xce")
		}
	}()
	ended := make(chan error, 1)
	go func() { _, err := greet(t.Context(), "amqp://"+l.Addr().String()+"/%2F"); ended <- err }()
	select {
	case err := <-ended:
		t.Logf("it ends: %v", err)
	case <-time.After(6 * greetLimit):
		t.Error("it is waited for for ever")
	}
}
