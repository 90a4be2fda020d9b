// Package replaytest has helpers for tests that replay counterexamples on real servers.
package replaytest

import (
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Trace loads the counterexample of target, a lock with a known bug, from testdata. It runs it in the simulation, and
// returns the trace and the violation. The calling test must be in a folder adapters/X.
func Trace(t *testing.T, target *lock.Target) (*scenario.Trace, scenario.Violation) {
	t.Helper()
	p, err := property.Named(target.Breaks)
	if err != nil {
		t.Fatal(err)
	}
	ce, err := histories.LoadCounterexample(filepath.Join("..", "..", "testdata", "counterexamples", target.Backend, histories.FileName(p, target.Name)))
	if err != nil {
		t.Fatal(err)
	}
	tr := new(sim.Runner).Trace(target, &ce.Scenario, property.Weak)
	v, ok := tr.Violation(p)
	if !ok {
		t.Fatalf("%s does not break %s", target.Name, p)
	}
	return tr, v
}
