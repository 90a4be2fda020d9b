package inprocess

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// late is a lock that can only be closed.
type late struct {
	Lock
	closed chan struct{}
}

func (l late) Close() error { close(l.closed); return nil }

// TestNewNeverReturns: if a constructor ignores the end of its context, Initialize returns an error. A lock that the
// constructor returns later is closed.
func TestNewNeverReturns(t *testing.T) {
	made, come := late{closed: make(chan struct{})}, make(chan struct{})
	c, err := Starter{New: func(context.Context, string) (Lock, error) { <-come; return made, nil }}.Start(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err = c.Initialize(ctx, foreign.Setup{Client: "c1"}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "has not returned") {
		t.Errorf("a constructor that never returns: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	close(come)
	<-made.closed
}

// TestNewReturnsLate: if a constructor returns an error when its context ends, Initialize returns that error.
func TestNewReturnsLate(t *testing.T) {
	c, err := Starter{New: func(ctx context.Context, _ string) (Lock, error) { <-ctx.Done(); return nil, errors.New("said") }}.Start(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Initialize(ctx, foreign.Setup{Client: "c1"}); err == nil || !strings.HasSuffix(err.Error(), "said") {
		t.Errorf("a constructor that obeys its context: %v", err)
	}
}
