package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A connection within the process reads, writes, times out and closes as a socket does.
func TestMemory(t *testing.T) {
	client, server := memoryPipe(memoryAddr{}, memoryAddr{})
	for name, ends := range map[string][2]net.Conn{"to the server": {client, server}, "to the client": {server, client}} {
		said := []byte("said " + name)
		if n, err := ends[0].Write(said); n != len(said) || err != nil {
			t.Fatal(n, err)
		}
		got := make([]byte, len(said))
		if _, err := io.ReadFull(ends[1], got); err != nil || !bytes.Equal(got, said) {
			t.Errorf("%q, %v: expected %q", got, err, said)
		}
	}
	must := func(got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("%v: expected %v", got, want)
		}
	}
	_ = client.SetReadDeadline(time.Now())
	_, err := client.Read(make([]byte, 1))
	must(err, os.ErrDeadlineExceeded)
	_ = client.SetDeadline(time.Time{})
	_, _ = server.Write([]byte("last words"))
	_ = server.CloseWrite()
	if all, err := io.ReadAll(client); string(all) != "last words" || err != nil {
		t.Errorf("%q, %v: expected what was written before the end", all, err)
	}
	_, err = server.Write([]byte("more"))
	must(err, net.ErrClosed)
	_ = server.Close()
	_, err = client.Write([]byte("too late"))
	must(err, syscall.EPIPE)
	_ = client.Close()
	_, err = client.Read(make([]byte, 1))
	must(err, net.ErrClosed)
}

// A write wakes a blocked reader, and a read wakes a blocked writer. Deadlines and the close wake both.
func TestMemoryWaits(t *testing.T) {
	client, server := memoryPipe(memoryAddr{}, memoryAddr{})
	large := bytes.Repeat([]byte("0123456789"), maxStream/4)
	var wg sync.WaitGroup
	wg.Go(func() {
		if n, err := client.Write(large); n != len(large) || err != nil {
			t.Error(n, err)
		}
		_ = client.Close()
	})
	if got, err := io.ReadAll(server); !bytes.Equal(got, large) || err != nil {
		t.Errorf("%d bytes, %v: expected %d", len(got), err, len(large))
	}
	wg.Wait()

	client, server = memoryPipe(memoryAddr{}, memoryAddr{})
	_ = client.SetDeadline(time.Now().Add(time.Millisecond))
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading: %v", err)
	}
	if n, err := client.Write(large); n != maxStream && n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing: %d, %v", n, err)
	}
	wg.Go(func() { _ = server.Close() })
	_ = client.SetDeadline(time.Time{})
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("reading to the end: %v", err)
	}
	wg.Wait()
}

// Dial to an address where a server of this process listens returns a connection within the process.
func TestDial(t *testing.T) {
	s, err := Listen("127.0.0.1:0", Config{Backend: NewSimulated(SimulatedOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial("tcp", s.Addr().String())
	if _, ok := c.(*memoryConn); !ok || err != nil {
		t.Errorf("%T, %v: expected a connection within the process", c, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := Dial("tcp", s.Addr().String()); err == nil {
		c.Close()
		t.Error("connected to a server that is closed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err = Dial("tcp", l.Addr().String())
	if _, ok := c.(*net.TCPConn); !ok || err != nil {
		t.Fatalf("%T, %v: expected a socket", c, err)
	}
	c.Close()
}
