// Package boundtest provides misbehaving servers, for tests of clients that connect to servers.
package boundtest

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Hostile configures what a misbehaving server sends to each client.
type Hostile struct {
	Name string
	// Greeting is what the server sends first. Then it sends Endless again and again, without end.
	Greeting, Endless string
	// Pause is the time between two bytes of Endless; 0 means no pause.
	Pause time.Duration
	// Asked makes the server wait until the client has sent something before it begins with Endless.
	Asked bool
}

// All returns servers that do not speak the protocol, and servers that begin to speak it and then stop or send
// without end. greeting and answer are messages of the protocol.
func All(greeting, answer string) []Hostile {
	return []Hostile{
		{Name: "silence"},
		{Name: "a byte a second", Endless: greeting + answer, Pause: time.Second},
		{Name: "half a handshake", Greeting: greeting[:len(greeting)/2]},
		{Name: "a handshake and silence", Greeting: greeting},
		{Name: "gigabytes", Endless: "x"},
		{Name: "gigabytes behind a handshake", Greeting: greeting, Endless: answer, Asked: true},
		{Name: "zeros", Endless: "\x00"},
		{Name: "TLS", Endless: "\x15\x03\x01\x00\x02\x02\x46"},
	}
}

// Serve starts a misbehaving server, which runs until the end of the test. It returns the server's address.
func Serve(t *testing.T, h Hostile) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				h.serve(conn, over)
				<-over
			}()
		}
	}()
	return l.Addr().String()
}

func (h *Hostile) serve(conn net.Conn, over <-chan struct{}) {
	asked := make(chan struct{}, 1)
	go func() {
		buf := make([]byte, 1<<16)
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	}()
	if _, err := io.WriteString(conn, h.Greeting); err != nil || h.Endless == "" {
		return
	}
	if h.Asked {
		select {
		case <-asked:
		case <-over:
			return
		}
	}
	text := []byte(h.Endless)
	for len(text) < 1<<16 && h.Pause == 0 {
		text = append(text, h.Endless...)
	}
	for {
		if h.Pause == 0 {
			if _, err := conn.Write(text); err != nil {
				return
			}
			continue
		}
		for i := range text {
			if _, err := conn.Write(text[i : i+1]); err != nil {
				return
			}
			select {
			case <-time.After(h.Pause):
			case <-over:
				return
			}
		}
	}
}

// memory is the maximum memory, in bytes, that clients of all servers in a test may take together.
const memory = 1 << 30

// Refused calls connect for each server. The test fails unless connect returns an error that names the server's
// address, within the time limit and with little memory.
func Refused(t *testing.T, all []Hostile, limit time.Duration, connect func(address string) error) {
	t.Cleanup(func() {
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.Sys > memory {
			t.Errorf("%d MiB were taken from the system; expected at most %d", m.Sys>>20, memory>>20)
		}
	})
	for _, h := range all {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			address, failed := Serve(t, h), make(chan error, 1)
			start := time.Now()
			go func() { failed <- connect(address) }()
			select {
			case err := <-failed:
				t.Logf("after %v: %v", time.Since(start).Round(time.Millisecond), err)
				if err == nil {
					t.Error("it takes that for a server")
				} else if !strings.Contains(err.Error(), address) {
					t.Errorf("the error does not name the address: %v", err)
				}
			case <-time.After(limit):
				t.Errorf("it hangs for %v", limit)
			}
		})
	}
}
