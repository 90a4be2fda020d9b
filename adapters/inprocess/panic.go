package inprocess

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// Panic is the error for a client's method that panicked or ended its goroutine, for example with t.FailNow.
// errors.Is(err, [foreign.ErrDied]) is true for it: the client is not used again. A panic in a goroutine that the
// client itself has started cannot be caught, and ends the program.
type Panic struct {
	During string // name of the method, and of the lock
	Value  any    // the value of the panic; nil if the method ended its goroutine
	Stack  string // stack trace of the panic, innermost frame first
}

// Error returns the panic in one line.
func (p *Panic) Error() string {
	if p.Value == nil {
		return fmt.Sprintf("%s ended its goroutine (runtime.Goexit, which t.FailNow and t.SkipNow call)", p.During)
	}
	return fmt.Sprintf("%s panicked: %v; at %s", p.During, p.Value, p.where())
}

// Unwrap returns [foreign.ErrDied].
func (p *Panic) Unwrap() error { return foreign.ErrDied }

// where returns the first line of the stack trace that is outside the runtime.
func (p *Panic) where() string {
	lines := strings.Split(p.Stack, "\n")
	began := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "panic(") })
	for i := began + 2; began >= 0 && i+1 < len(lines); i += 2 { // two lines per frame: function and place
		if isRuntime := strings.HasPrefix(lines[i], "runtime.") || strings.HasPrefix(lines[i], "internal/runtime/"); isRuntime {
			continue
		}
		at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		return strings.TrimSpace(strings.SplitN(lines[i], "(0x", 2)[0]) + ", " + at
	}
	return "an unknown place"
}

// guarded calls a method of user code in a new goroutine, since the method may end its goroutine. It turns a panic
// into an error.
func guarded(during string, call func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		guard(&err, func() string { return during }, call)
	}()
	return <-done
}

// guard calls a method of user code. It turns a panic, or the end of the goroutine, into an error.
func guard(err *error, during func() string, call func() error) {
	returned := false
	defer func() {
		switch value := recover(); {
		case value != nil:
			*err = &Panic{during(), value, string(debug.Stack())}
		case !returned:
			*err = &Panic{During: during()}
		}
	}()
	*err = call()
	returned = true
}
