package inprocess

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockproof/lockproof/adapters/foreign"
)

// Panic is the error of a method of a client that panicked, or ended its goroutine as t.FailNow does. errors.Is(err,
// [foreign.ErrDied]) is true for it: the client is not used again. Goroutines that a client starts by itself can't be
// watched: a panic in one of them ends the program.
type Panic struct {
	During string // the method, and the lock's name
	Value  any    // the value of the panic; nil if the method ended its goroutine
	Stack  string // of the panic, innermost frame first
}

// Error is the panic in one line.
func (p *Panic) Error() string {
	if p.Value == nil {
		return fmt.Sprintf("%s ended its goroutine (runtime.Goexit, which t.FailNow and t.SkipNow call)", p.During)
	}
	return fmt.Sprintf("%s panicked: %v; at %s", p.During, p.Value, p.where())
}

// Unwrap is foreign.ErrDied.
func (p *Panic) Unwrap() error { return foreign.ErrDied }

// where is the first line of the stack outside the runtime.
func (p *Panic) where() string {
	lines := strings.Split(p.Stack, "\n")
	began := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "panic(") })
	for i := began + 2; began >= 0 && i+1 < len(lines); i += 2 { // a line for the function, and a line for its place
		if isRuntime := strings.HasPrefix(lines[i], "runtime.") || strings.HasPrefix(lines[i], "internal/runtime/"); isRuntime {
			continue
		}
		at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		return strings.TrimSpace(strings.SplitN(lines[i], "(0x", 2)[0]) + ", " + at
	}
	return "an unknown place"
}

// guarded calls a method of user code in a new goroutine, which the method may end, and turns a panic into an error.
func guarded(during string, call func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		guard(&err, func() string { return during }, call)
	}()
	return <-done
}

// guard calls a method of user code, which may end the goroutine, and turns a panic into an error.
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
