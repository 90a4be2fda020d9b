package property

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Contracts are the promises that a lock may be held to, by name. A lock keeps a promise or breaks it; to break it is wrong
// only where the contract demands it.
var Contracts = map[string]Set{
	// The guidelines of locks by queues of one message each: all of them.
	"guidelines": Promises,
	// A lock whose callers rely on the answer at the moment when it is given: a release is effective when it returns, and a
	// refusal says that the lock was taken.
	"mutex":     Set(0).With(Linearizable),
	"semaphore": Set(0).With(Linearizable),
	// A lock that time takes away: safety and recovery say all that its callers may rely on.
	"lease": 0,
}

// ParseContract is what a contract demands: the name of one, or of single promises, with commas. "" demands nothing.
func ParseContract(text string) (demands Set, err error) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if preset, ok := Contracts[name]; ok {
			demands |= preset
			continue
		}
		p, err := Named(name)
		if err != nil || !Promises.Has(p) {
			return 0, fmt.Errorf("contract %q: expected %s, or some of %s", name,
				strings.Join(slices.Sorted(maps.Keys(Contracts)), ", "), strings.Join(Promises.Names(), ", "))
		}
		demands = demands.With(p)
	}
	return demands, nil
}
