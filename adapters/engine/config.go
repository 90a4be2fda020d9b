package engine

import (
	"time"

	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Judging says what a run judges.
type Judging struct {
	// Properties are the properties to judge; empty is all that apply.
	Properties property.Set
	// Own are custom properties, which are judged as well. Stress, and a history alone, do not show the state that they
	// depend on: there they are skipped.
	Own own.List
	// FailedAcquire is what a failed acquire promises.
	FailedAcquire property.FailedAcquire
}

// Sampling says which executions a run draws, and how many.
type Sampling struct {
	// Seed decides every scenario.
	Seed uint64
	// Scenarios is the number of scenarios; 0 is the run's default.
	Scenarios int
	// Time ends the run earlier, minimising included; see [MinimisingShare]. The number of scenarios then depends on the
	// machine. Executions of external clients that are under way are completed. 0 is no limit.
	Time time.Duration
	// Strategies are the ways to draw schedules; empty is all of them. Depth is the depth of the strategy PCT; 0 draws it.
	Strategies []scenario.Strategy
	Depth      int
	// Shape fixes parts of the workload and the faults, which are then not drawn.
	Shape sim.Shape
	// Workers is the number of scenarios that run in parallel. It does not change the result. 0 is one per processor.
	// External clients that share something within one process need 1.
	Workers int
	// Until ends the run once one of these properties is violated, and minimises only their executions. Then, too, the
	// scenarios that are run do not depend on Workers. The cost of external clients' operations is measured only if one of
	// these properties needs it. If Until is empty, the run continues and minimises all.
	Until property.Set
	// Known are known violations: if an execution shows another violation of the same property, that one is reported
	// instead.
	Known known.Findings
}
