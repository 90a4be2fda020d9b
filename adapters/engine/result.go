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

// SimulatedOf is the name of a target's simulated server in reports. A nil target means the reference semaphore.
func SimulatedOf(t *lock.Target) string {
	if t == nil {
		return Simulated
	}
	return lock.BackendOf(t).Simulated()
}

// Result is the result of a run of any kind.
type Result struct {
	Report *report.Report
	// Traces contains, for each violated property, a minimised execution that violates it.
	Traces map[property.Property]*scenario.Trace
	// History is the recorded history that was judged, and Reading says how it was interpreted. Runs without a recorded
	// history leave History nil.
	History *history.History
	Reading linear.Options

	// Labels are the data that the run's counterexamples share. If scenarios were drawn from several spaces, Labels
	// belong to the first space. Others has the data of properties that only a later space violated: see
	// [sample.Conclude].
	Labels Labels
	Others map[property.Property]Labels

	Explorer *report.Explorer // explorer of a state space, or nil; see [explore.Explored.AddGraph]
}

// Progress tells how far a run is: Scenarios of Of are done.
type Progress struct {
	Scenarios, Of int
	Violated      int // number of violated properties
	Tries         int // number of scenarios tried to minimise counterexamples; 0 until minimising has taken a while
}

// JudgedOf returns the properties to judge: the applicable ones among asked, or all applicable ones if asked is empty.
func JudgedOf(applicable, asked property.Set) property.Set {
	if asked == 0 {
		return applicable
	}
	return asked & applicable
}
