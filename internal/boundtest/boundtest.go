// Package boundtest has servers that mean ill, for tests of what connects to servers.
package boundtest

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Hostile is what a server does to whoever connects.
type Hostile struct {
	Name string
	// Greeting is what it says first, and Endless what it goes on to say for ever.
	Greeting, Endless string
	// Pause is between two bytes of what is endless; 0 is none.
	Pause time.Duration
	// Asked has it wait for something to be sent before it goes on with what is endless.
	Asked bool
}

// All are the ways of servers that speak no protocol, and those that begin one and do not go on.
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

// Serve serves until the test is over, and returns the address.
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

// memory is how much may be taken from the system, in bytes, for all servers of a test at once.
const memory = 1 << 30

// Refused fails unless connecting to each hostile server ends in an error within a time, naming the address, in memory that a
// small machine has. connect is given the address.
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
