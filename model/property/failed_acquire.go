package property

import "fmt"

// FailedAcquire says what an acquire promises that failed because the lock was full.
type FailedAcquire uint8

// The semantics of a failed acquire.
const (
	// Weak says that each slot was taken or missing at some moment of the call. The guidelines' algorithm cannot
	// promise more, since it scans slot by slot.
	Weak FailedAcquire = iota
	// Strong says that at one moment of the call every slot was taken.
	Strong
)

var (
	failedAcquireNames = [...]string{"weak", "strong"}
	// earlierNames are the names in files of earlier versions.
	earlierNames = [...]string{"scan", "strict"}
)

// String is the name of the semantics.
func (f FailedAcquire) String() string { return failedAcquireNames[f] }

// Note is the line about the semantics in a report.
func (f FailedAcquire) Note() string { return "failed acquires: " + f.String() }

// FailedAcquireNamed is the semantics with that name, or with that name in earlier versions.
func FailedAcquireNamed(name string) (FailedAcquire, error) {
	for f, n := range failedAcquireNames {
		if n == name || earlierNames[f] == name {
			return FailedAcquire(f), nil
		}
	}
	return 0, fmt.Errorf("strength %q: expected one of %q", name, failedAcquireNames)
}
