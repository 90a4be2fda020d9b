package histories

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Fingerprint returns sixteen hexadecimal digits that identify a violation, to recognize it in other runs. It depends
// on
//   - the lock's name up to its first space, after which programs write their version, and its type,
//   - the options that the user has fixed,
//   - the property, and what a failed acquire was assumed to promise,
//   - the number of slots of each lock at the beginning, and which of them are missing,
//   - the calls of each client, with number of slots, limit, or permission to wait; not the client's number,
//   - the kinds of faults, and how often each happens.
//
// It does not depend on the seed, the order of steps, the commands that a call sends, names of locks and queues,
// numbers of clients, options that were drawn, the command line, lockproof's version, or the sentence that describes
// the event.
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
