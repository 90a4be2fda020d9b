package engine

import (
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Simulated is the name of the simulated broker in reports.
const Simulated = "the simulated broker"

// SimulatedOf is the name of a target's simulated server in reports. A nil target is the reference semaphore.
func SimulatedOf(t *lock.Target) string {
	if t == nil {
		return Simulated
	}
	return lock.BackendOf(t).Simulated()
}

// Result is the result of a run.
type Result struct {
	Report *report.Report
	// Traces are the minimised executions that violate a property, by property.
	Traces map[property.Property]*scenario.Trace
	// History is the recorded history that was judged, and Reading is how it was read; both are nil for other runs.
	History *history.History
	Reading linear.Options

	// Labels are the data of the run's counterexamples. If scenarios were drawn from several spaces, these are the data of
	// the first space; Others are those of properties that only a further space has shown violated: see [sample.Conclude].
	Labels Labels
	Others map[property.Property]Labels

	Explorer *report.Explorer // of a state space; see [explore.Explored.AddGraph]
}

// Progress is the progress of a run.
type Progress struct {
	Scenarios, Of int
	Violated      int // number of properties
	Tries         int // scenarios tried to minimise counterexamples, if that takes long
}

// JudgedOf are the properties to judge: those of applicable that were asked for, or all.
func JudgedOf(applicable, asked property.Set) property.Set {
	if asked == 0 {
		return applicable
	}
	return asked & applicable
}
