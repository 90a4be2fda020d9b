//go:build !linux

package clock

// Threads would be the threads of a process. Only Linux tells whether they sleep.
type Threads struct{}

// NewThreads returns [ErrNone], since only Linux tells whether threads sleep.
func NewThreads(int) (*Threads, error) { return nil, ErrNone }

// Rest returns false: it is unknown whether the process is at rest.
func (*Threads) Rest() bool { return false }

// Close does nothing, since there is nothing to close.
func (*Threads) Close() {}
