package histories

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Fingerprint is the same for counterexamples that show the same: sixteen hexadecimal digits. It depends on
//   - the lock's name up to its first space, behind which programs say their version, and its type,
//   - the options that the run was told,
//   - the property, and what a failed acquire was taken to promise,
//   - how many slots each lock has at first, and which of those are missing,
//   - what each client calls, with its number of slots, its limit or that it may wait, whatever the client's number,
//   - the kinds of faults, and how often each happens.
//
// It does not depend on the seed, the order of steps, which commands a call sends, names of locks and queues, numbers of
// clients, options that were drawn, the command line, lockproof's version, or the sentence that tells what happened.
func (c *Counterexample) Fingerprint() string {
	name, _, _ := strings.Cut(c.Scenario.Target, " ")
	parts := []string{fmt.Sprintf("%q %s %s %s", name, c.Kind, c.Violation.Name(), c.FailedAcquire)}
	for _, option := range slices.Sorted(slices.Values(c.Origin.Options)) {
		parts = append(parts, fmt.Sprintf("option %q", option))
	}
	for _, l := range c.Scenario.Locks {
		parts = append(parts, fmt.Sprintf("slots %d without %s", l.Slots, l.Missing))
	}
	var clients, faults []string
	for _, client := range c.Scenario.Clients {
		clients = append(clients, fmt.Sprintf("client of %d: %v", client.Lock, client.Ops))
	}
	for _, a := range c.Scenario.Schedule.Actions {
		if a.Kind.Fault() {
			faults = append(faults, a.Kind.String())
		}
	}
	slices.Sort(clients)
	slices.Sort(faults)
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat(parts, clients, faults), "\n")))
	return hex.EncodeToString(sum[:8])
}
