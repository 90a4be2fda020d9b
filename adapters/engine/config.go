package engine

import (
	"time"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Judging says what any run judges.
type Judging struct {
	// Properties are those to judge; empty is all that apply.
	Properties property.Set
	// Own are users' own properties, which are judged as well. Stress, and a history alone, do not show what they look at:
	// there they are skipped.
	Own own.List
	// FailedAcquire is what a failed acquire is taken to promise.
	FailedAcquire property.FailedAcquire
}

// Sampling says which executions a run draws, and how many.
type Sampling struct {
	// Seed decides every scenario.
	Seed uint64
	// Scenarios is how many are run; 0 is the run's default.
	Scenarios int
	// Time ends the run earlier, minimising included; see [MinimisingShare]. How many scenarios fit is then the machine's
	// doing. Executions of external clients that are under way then are brought to their end. 0 is no limit.
	Time time.Duration
	// Strategies are how schedules are drawn; none is all of them. Depth is PCT's; 0 draws it.
	Strategies []scenario.Strategy
	Depth      int
	// Shape is what of the workload and the faults is not drawn.
	Shape sim.Shape
	// Workers is how many scenarios run at once, which does not change the result; 0 is one for each processor. External
	// clients that share something in one process take 1.
	Workers int
	// Until ends the run once one of these properties is violated, and has only their executions minimised. The scenarios
	// that are run do not depend on Workers then either. What operations of external clients cost is not measured unless one
	// of these properties asks for it. Empty runs on, and minimises all.
	Until property.Set
	// Known are violations that are known: an execution that shows another one of the same property takes their place.
	Known known.Findings
}
