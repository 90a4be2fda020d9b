package bound_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/internal/boundtest"
)

// TestLimits: if a server sends no answer, does not end its answer, or sends too much, the error says which of these
// happened. It also names the server's address.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		server boundtest.Hostile
		limits bound.Limits
		says   string
		late   bool
	}{
		{boundtest.Hostile{}, bound.Limits{Answer: 50 * time.Millisecond}, "sent nothing within 50ms", true},
		{boundtest.Hostile{Endless: "x", Pause: 10 * time.Millisecond}, bound.Limits{Answer: 200 * time.Millisecond}, "no end of an answer, within 200ms", true},
		{boundtest.Hostile{Endless: "x"}, bound.Limits{Answer: time.Minute, Most: 1 << 20}, "sent more than 1 MiB", false},
	} {
		address := boundtest.Serve(t, c.server)
		conn, err := c.limits.Dial(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, conn)
		var timeout net.Error
		if err == nil || !strings.Contains(err.Error(), address+" "+c.says) && !strings.Contains(err.Error(), c.says) || !errors.Is(err, bound.ErrServer) {
			t.Errorf("got %v, expected %s", err, c.says)
		}
		if !errors.As(err, &timeout) || timeout.Timeout() != c.late {
			t.Errorf("%v: expected late to be %v", err, c.late)
		}
		if _, again := conn.Read(make([]byte, 1)); again == nil {
			t.Errorf("%v: it is read on", err)
		}
		conn.Close()
	}
}

// TestDeadlinesStay: a deadline that the user of a connection sets stays in force, beside the limits.
func TestDeadlinesStay(t *testing.T) {
	conn, err := bound.Limits{Answer: time.Hour}.Dial(t.Context(), "tcp", boundtest.Serve(t, boundtest.Hostile{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, bound.ErrServer) {
		t.Errorf("got %v, expected the deadline that was set", err)
	}
}
