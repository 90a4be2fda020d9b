package stream

import (
	"net"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/socket"
)

// TestCaughtUp: if two goroutines wait until all output of a server was handled, both are woken.
func TestCaughtUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	up, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c := &Conn{said: socket.NewReader(up)}
	if _, err := server.Write([]byte("a word")); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{}, 2)
	for range cap(done) {
		go func() {
			c.caughtUp()
			done <- struct{}{}
		}()
	}
	time.Sleep(20 * time.Millisecond) // until both goroutines wait
	go func() {
		b := make([]byte, 100)
		for err := error(nil); err == nil; {
			_, err = c.said.Read(b)
		}
	}()
	for range cap(done) {
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("one waits on though all was read")
		}
	}
}
