package property

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Contracts are sets of promises, by name. A user names the contract that an external lock has to keep. Breaking a
// promise is a violation only if the contract contains it.
var Contracts = map[string]Set{
	// The guidelines of AMQP locks demand all promises.
	"guidelines": Promises,
	// Callers of a mutex rely on each answer at once: after a release the lock is free, and a failed acquire means that
	// the lock was taken.
	"mutex":     Set(0).With(Linearizable),
	"semaphore": Set(0).With(Linearizable),
	// A lease ends with time, so that its callers may rely on safety and recovery only.
	"lease": 0,
}

// ParseContract returns the promises that a text demands: the name of a contract, or names of promises separated by
// commas. "" demands none.
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
