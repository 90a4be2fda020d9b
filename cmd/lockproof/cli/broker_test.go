package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/internal/waittest"
)

// TestBroker checks that the broker prints its address, accepts a client in another virtual host, and ends without
// error when it is interrupted.
func TestBroker(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	cmd := brokerCommand()
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0", "--rabbitmq", "4.0.5", "--vhost", "second", "--heartbeat", "7", "--consumer-timeout", "1"})
	r, w := io.Pipe()
	cmd.SetOut(w)
	ended := make(chan error)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	out := bufio.NewReader(r)
	url, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	conn, err := amqp091.DialConfig(strings.TrimSpace(url), amqp091.Config{Vhost: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if version := conn.Properties["version"]; version != "4.0.5" {
		t.Errorf("calls itself %v", version)
	}
	if every := conn.Config.Heartbeat; every != 7*time.Second {
		t.Errorf("heartbeats every %v", every)
	}
	late(t, conn)
	interrupt()
	summary := make(chan string)
	go func() {
		text, _ := io.ReadAll(out)
		summary <- string(text)
	}()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.Close()
	if text := <-summary; !strings.Contains(text, "channel.open") {
		t.Errorf("does not say that a channel was opened: %q", text)
	}
}

// late lets a channel hold a message without acknowledging it until the broker closes the channel.
func late(t *testing.T, conn *amqp091.Connection) {
	t.Helper()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	q, err := ch.QueueDeclare("", true, false, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.PublishWithContext(t.Context(), "", q.Name, true, false, amqp091.Publishing{}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the message arrives", func() bool {
		_, got, err := ch.Get(q.Name, false)
		return got && err == nil
	})
	if why := <-closed; why == nil || why.Code != amqp091.PreconditionFailed || !strings.Contains(why.Reason, "1000 ms") {
		t.Errorf("the channel was closed by %v", why)
	}
}

// TestBrokerListensHere checks that an address which other machines can reach is refused without --listen-anywhere, and
// that the error names this flag.
func TestBrokerListensHere(t *testing.T) {
	for listen, here := range map[string]bool{
		"127.0.0.1:0": true, "127.8.8.8:0": true, "[::1]:0": true, "localhost:0": true,
		":0": false, "0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:0": false, "example.com:0": false,
	} {
		if err := local(listen, false, "with a password"); (err == nil) != here || err != nil && !strings.Contains(err.Error(), "--listen-anywhere") {
			t.Errorf("%s: %v", listen, err)
		}
		if err := local(listen, true, ""); err != nil {
			t.Errorf("%s with --listen-anywhere: %v", listen, err)
		}
	}
	if err := local("5673", false, ""); err == nil || !strings.Contains(err.Error(), "port") {
		t.Errorf("no port: %v", err)
	}
}
