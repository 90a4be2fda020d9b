package property

import "fmt"

// Strength is what an acquire that failed because the lock was full is taken to promise.
type Strength uint8

// The strengths.
const (
	// Scan is what the guidelines' algorithm can promise, as it looks at slot by slot: each slot was
	// taken, or did not exist, at some moment of the call.
	Scan Strength = iota
	// Strict is that at one moment of the call every slot was taken.
	Strict
)

var strengthNames = [...]string{"scan", "strict"}

// String is the strength's name.
func (s Strength) String() string { return strengthNames[s] }

// StrengthNamed is the strength with that name.
func StrengthNamed(name string) (Strength, error) {
	for s, n := range strengthNames {
		if n == name {
			return Strength(s), nil
		}
	}
	return 0, fmt.Errorf("strength %q: expected one of %q", name, strengthNames)
}
