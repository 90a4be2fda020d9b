package engine

import (
	"time"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Judging says which properties a run judges, and how.
type Judging struct {
	// Properties are the properties to judge; empty means all that apply.
	Properties property.Set
	// Own are custom properties, judged in addition to Properties. They need the server's state. A stress run and a
	// recorded history do not show that state, so custom properties are skipped there.
	Own own.List
	// FailedAcquire says what a failed acquire promises about the slots: weak or strong semantics.
	FailedAcquire property.FailedAcquire
}

// Sampling says which executions a run draws, and how many.
type Sampling struct {
	// Seed determines every scenario that is drawn.
	Seed uint64
	// Scenarios is the number of scenarios; 0 means the default of the kind of run.
	Scenarios int
	// Time limits the duration of the run, including minimisation; see [MinimisingShare]. With a limit, the number of
	// scenarios depends on the machine's speed. Executions of external clients that have started are completed. 0 is no
	// limit.
	Time time.Duration
	// Strategies are the ways to draw schedules; empty means all. Depth is the depth of the strategy PCT; 0 means that
	// it is drawn as well.
	Strategies []scenario.Strategy
	Depth      int
	// Shape fixes parts of the workload and of the faults. Fixed parts are not drawn.
	Shape sim.Shape
	// Workers is the number of scenarios that run in parallel; the result does not depend on it. 0 means one worker per
	// processor. External clients that share state within one process need 1.
	Workers int
	// Until ends the run as soon as one of these properties is violated; only executions that violate one of them are
	// minimised. The scenarios that are run do not depend on Workers. The cost of external clients' operations is
	// measured only if one of these properties needs it. If Until is empty, the run continues, and all violations are
	// minimised.
	Until property.Set
	// Known are violations that the user already knows. If another execution violates the same property in an unknown
	// way, the run reports that execution instead.
	Known known.Findings
}
