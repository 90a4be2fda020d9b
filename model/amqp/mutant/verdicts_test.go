package mutant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// verdictsOn is the number of scenarios for which the verdicts on each lock are compared with the file.
const verdictsOn = 120

// TestVerdicts compares the verdicts on each lock, for the same scenarios, with a file. The file has, for each
// property, the number of checks and violations, and the first violation. A changed line means that a verdict or its
// evidence has changed. The flag -rewrite writes the file.
func TestVerdicts(t *testing.T) {
	var out strings.Builder
	for _, target := range slices.Concat(amqplock.References, mutant.All) {
		verdicts(&out, target)
	}
	pinned.Text(t, "testdata/verdicts.txt", out.String())
}

// verdicts writes the results of one lock's scenarios to out.
func verdicts(out *strings.Builder, target *lock.Target) {
	var r sim.Runner
	var judged, violated [property.Count]int
	var first [property.Count]string
	var checks monitor.Counts
	r.Monitor.Checks = &checks
	source := sim.NewSource(sim.Space{Target: target}, 5)
	witnessed, strong, overlap, overlaps := 0, 0, int64(0), int32(0)
	for i := range verdictsOn {
		s := source.Scenario(i)
		tr := r.Trace(target, &s, property.Weak)
		for p := range property.Count {
			if r.Monitor.Exercised.Has(p) {
				judged[p]++
			}
		}
		for _, v := range tr.Violations {
			if violated[v.Property]++; first[v.Property] == "" {
				first[v.Property] = fmt.Sprintf("; first in scenario %d, step %d, by c%d, c%d and slot %d of lock %d: %s", i, v.Step, v.Client, v.Other, v.Slot, v.Lock, v.Explain())
			}
		}
		if r.Monitor.Witnessed {
			witnessed++
		}
		if r.Monitor.WitnessedStrong {
			strong++
		}
		overlap, overlaps = max(overlap, r.Monitor.Overlap), max(overlaps, r.Monitor.Overlaps)
	}
	fmt.Fprintf(out, "## %s\nwitnessed %d, strongly %d, longest overlap %d ms and %d commands\n", target.Name, witnessed, strong, overlap, overlaps)
	for p := range property.Count {
		if checks[p] > 0 || violated[p] > 0 {
			fmt.Fprintf(out, "%s: judged %d times in %d scenarios, violated in %d%s\n", p, checks[p], judged[p], violated[p], first[p])
		}
	}
}
