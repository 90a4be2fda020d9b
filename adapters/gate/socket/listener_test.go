package socket_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/socket"
)

// TestUnderway: Underway is true from a client's connection until the next call of Accept.
func TestUnderway(t *testing.T) {
	t.Parallel()
	l, err := socket.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if l.Underway() {
		t.Error("a client is underway, and none has connected")
	}
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if !l.Underway() {
		t.Skip("this system does not say so")
	}
	taken, err := l.Accept()
	if err != nil || !l.Underway() {
		t.Fatalf("the client was taken, and may not be known: underway %v, %v", l.Underway(), err)
	}
	defer taken.Close()
	over := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		over <- err
	}()
	for end := time.Now().Add(30 * time.Second); l.Underway() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if l.Underway() {
		t.Error("the next client is waited for, and one is underway")
	}
	l.Close()
	if err := <-over; !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepting on a closed listener: %v", err)
	}
}
