package inprocess

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
)

func TestGuarded(t *testing.T) {
	for _, c := range []struct {
		name, want string
		call       func() error
	}{
		{"error", "no", func() error { return errors.New("no") }},
		{"panic", "acquire jobs panicked: runtime error: index out of range [3] with length 0; at ", func() error { return []error{}[len("two")] }},
		{"panic", "assignment to entry in nil map; at ", func() error { panicking(nil); return nil }},
		{"panic", "nil pointer dereference; at ", func() error { var none *Panic; return errors.New(none.During) }},
		{"panic with nil", "panicked: panic called with nil argument", func() error { panic(nil) }},
		{"goroutine", "acquire jobs ended its goroutine", func() error { runtime.Goexit(); return nil }},
	} {
		err := guarded("acquire jobs", c.call)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line with %q", c.name, err, c.want)
		}
		if errors.Is(err, foreign.ErrDied) == (c.name == "error") {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "panic" && !strings.Contains(err.Error(), "panic_test.go:") {
			t.Errorf("%s: %v does not say where", c.name, err)
		}
	}
}

// panicking writes to a nil map, so that code of the runtime panics.
func panicking(none map[string]int) { none["one"] = 1 }
