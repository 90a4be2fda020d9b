package property

import "fmt"

// FailedAcquire is what an acquire that failed because the lock was full is taken to promise.
type FailedAcquire uint8

// The semantics of a failed acquire.
const (
	// Weak is the most that the guidelines' algorithm can promise, since it scans slot by slot: each slot was taken
	// or missing at some moment of the call.
	Weak FailedAcquire = iota
	// Strong is that at one moment of the call every slot was taken.
	Strong
)

var (
	failedAcquireNames = [...]string{"weak", "strong"}
	// earlierNames are those in the files of earlier versions.
	earlierNames = [...]string{"scan", "strict"}
)

// String is the name of the semantics.
func (f FailedAcquire) String() string { return failedAcquireNames[f] }

// Note is what a card says of them.
func (f FailedAcquire) Note() string { return "failed acquires: " + f.String() }

// FailedAcquireNamed is the semantics with that name, or with the name that earlier versions wrote.
func FailedAcquireNamed(name string) (FailedAcquire, error) {
	for f, n := range failedAcquireNames {
		if n == name || earlierNames[f] == name {
			return FailedAcquire(f), nil
		}
	}
	return 0, fmt.Errorf("strength %q: expected one of %q", name, failedAcquireNames)
}
