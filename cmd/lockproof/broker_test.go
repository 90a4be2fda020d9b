package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// TestBroker: the broker says where it is, takes a client there, and ends in good order when it is
// interrupted.
func TestBroker(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	cmd := brokerCommand()
	cmd.SetArgs([]string{"--listen", "127.0.0.1:0"})
	r, w := io.Pipe()
	cmd.SetOut(w)
	ended := make(chan error)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	out := bufio.NewReader(r)
	url, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	conn, err := amqp091.Dial(strings.TrimSpace(url))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Channel(); err != nil {
		t.Error(err)
	}
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
