package engine

import (
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Simulated is what our own broker is called.
const Simulated = "the simulated broker"

// SimulatedOf is what the simulated server of a target is called. nil is the reference semaphore.
func SimulatedOf(t *lock.Target) string {
	if t == nil {
		return Simulated
	}
	return lock.BackendOf(t).Simulated()
}

// Result is what a run came to.
type Result struct {
	Report *report.Report
	// Traces are the minimised executions that violate a property, by property.
	Traces map[property.Property]*scenario.Trace
	// History is what was judged where that is a recorded history, and Reading how it was read; nil for others.
	History *history.History
	Reading linear.Options

	// Labels are what the run's counterexamples say; Others, what those of properties say that other scenarios than the first
	// sort have shown: see [sample.Conclude].
	Labels Labels
	Others map[property.Property]Labels

	Explorer *report.Explorer // of a state space; see [explore.Explored.AddGraph]
}

// Progress is how far a run is.
type Progress struct {
	Scenarios, Of int
	Violated      int // properties
	Tries         int // scenarios tried to make counterexamples smaller, where that takes long
}

// JudgedOf are the properties to judge of those that apply: the ones that were asked for, or all.
func JudgedOf(applicable, asked property.Set) property.Set {
	if asked == 0 {
		return applicable
	}
	return asked & applicable
}
