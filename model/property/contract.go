package property

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Contracts are sets of promises that a lock can be required to keep, by name. Breaking a promise is a violation only
// if the contract includes it.
var Contracts = map[string]Set{
	// The guidelines of locks by queues of one message each demand all promises.
	"guidelines": Promises,
	// The callers of a mutex rely on each answer at the moment of the answer: a release takes effect before it
	// returns, and a refusal says that the lock was taken.
	"mutex":     Set(0).With(Linearizable),
	"semaphore": Set(0).With(Linearizable),
	// A lease ends with time. Its callers may rely only on safety and recovery.
	"lease": 0,
}

// ParseContract returns the promises that text names: a contract, or promises separated by commas. "" demands
// nothing.
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
