package acceptor_test

import (
	"io"
	"net"
	"testing"

	"github.com/lockproof/lockproof/adapters/acceptor"
)

// Close closes the connections that the acceptor serves, and those that were registered with Keep.
func TestCloseEndsConnections(t *testing.T) {
	a, err := acceptor.Listen()
	if err != nil {
		t.Fatal(err)
	}
	far, near := net.Pipe()
	noted := make(chan bool, 1)
	a.Serve(func(conn net.Conn) {
		noted <- a.Keep(near)
		_, _ = io.Copy(io.Discard, conn) // until Close closes the connection
	})
	client, err := net.Dial("tcp", a.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if !<-noted || a.Over() {
		t.Fatal("it is over before it is closed")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	for name, conn := range map[string]net.Conn{"the client's connection": client, "the one noted": far} {
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s is open: %d bytes", name, n)
		}
	}
	if !a.Over() || a.Keep(near) {
		t.Error("connections are still noted")
	}
}

// The acceptor closes a connection when the function that serves it returns.
func TestServedConnectionIsClosed(t *testing.T) {
	a, err := acceptor.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Serve(func(conn net.Conn) { _, _ = conn.Write([]byte("x")) })
	client, err := net.Dial("tcp", a.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if text, err := io.ReadAll(client); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}
