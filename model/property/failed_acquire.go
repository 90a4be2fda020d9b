package property

import "fmt"

// FailedAcquire is the meaning of an acquire that failed because the lock was full: what it says about other clients.
type FailedAcquire uint8

// The meanings of a failed acquire.
const (
	// Weak says that each slot was taken or missing at some moment of the call, possibly at different moments. The
	// guidelines' algorithm promises no more, since it looks at one slot after the other.
	Weak FailedAcquire = iota
	// Strong says that there was one moment of the call at which every slot was taken.
	Strong
)

var (
	failedAcquireNames = [...]string{"weak", "strong"}
	// earlierNames are the names that earlier versions wrote to files.
	earlierNames = [...]string{"scan", "strict"}
)

// String is the name of the meaning: "weak" or "strong".
func (f FailedAcquire) String() string { return failedAcquireNames[f] }

// Note is the line of a report that names the meaning of failed acquires.
func (f FailedAcquire) Note() string { return "failed acquires: " + f.String() }

// FailedAcquireNamed is the meaning with that name, which may be one of an earlier version.
func FailedAcquireNamed(name string) (FailedAcquire, error) {
	for f, n := range failedAcquireNames {
		if n == name || earlierNames[f] == name {
			return FailedAcquire(f), nil
		}
	}
	return 0, fmt.Errorf("strength %q: expected one of %q", name, failedAcquireNames)
}
