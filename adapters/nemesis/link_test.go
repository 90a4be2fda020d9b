package nemesis

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// echo returns the address of a server that sends back what it receives.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

// Messages in a silenced direction are delayed, and arrive when the silence ends. A connection that is opened during
// the silence is delayed as well.
func TestLink(t *testing.T) {
	network := NewNetwork(2)
	l, err := network.Listen(0, 1, echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		network.Close()
		l.Close()
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", l.Port()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	answers := func(conn net.Conn, within time.Duration) bool {
		_ = conn.SetReadDeadline(time.Now().Add(within))
		_, err := io.ReadFull(conn, make([]byte, 2))
		return err == nil
	}
	send := func(conn net.Conn) {
		if _, err := conn.Write([]byte("hi")); err != nil {
			t.Error(err)
		}
	}
	conn := dial()
	if send(conn); !answers(conn, time.Minute) {
		t.Fatal("nothing comes through")
	}
	for _, direction := range [][2]int{{0, 1}, {1, 0}} {
		network.Silence(direction[0], direction[1], true)
		fresh := dial()
		send(conn)
		send(fresh)
		if answers(conn, 50*time.Millisecond) || answers(fresh, 50*time.Millisecond) {
			t.Errorf("%v: something came through", direction)
		}
		network.Silence(direction[0], direction[1], false)
		if !answers(conn, time.Minute) || !answers(fresh, time.Minute) {
			t.Errorf("%v: what waited does not come", direction)
		}
	}
}
