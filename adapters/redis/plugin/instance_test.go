package plugin

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/redistest"
)

// TestIdleConnection: a client's connection may be idle for longer than answerLimit, the limit for lockproof's own
// commands.
func TestIdleConnection(t *testing.T) {
	redistest.Program(t)
	i, err := start(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := i.close(); err != nil {
			t.Error(err)
		}
	}()
	limit := answerLimit
	answerLimit = 200 * time.Millisecond
	defer func() { answerLimit = limit }()
	conn, _, err := i.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	time.Sleep(2 * answerLimit)
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 16)); err != nil {
		t.Error(err)
	}
}
