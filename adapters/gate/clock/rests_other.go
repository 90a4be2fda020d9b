//go:build !linux

package clock

// Threads are those of a process. Only on Linux is it known whether they sleep.
type Threads struct{}

// NewThreads is refused.
func NewThreads(int) (*Threads, error) { return nil, ErrNone }

// Rest is not known.
func (*Threads) Rest() bool { return false }

// Close does nothing.
func (*Threads) Close() {}
