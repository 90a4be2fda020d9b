package search

import (
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search/states"
)

// Cycles says whether the graph of states has cycles. Along a cycle no operation begins or ends, so its clients make no
// progress. If a fair schedule can follow a cycle forever, the cycle is a livelock or an unbounded retry.
type Cycles uint8

// The results of looking for cycles.
const (
	// CyclesUnknown: the search was incomplete or approximate, or the state graph needed too much memory.
	CyclesUnknown Cycles = iota
	// NoCycles: every execution ends.
	NoCycles
	// UnfairCycles: each cycle starves a client that could always take a step.
	UnfairCycles
	// FairCycles: some cycle lets every client act that can always act. Result.Livelock has it.
	FairCycles
)

var cyclesNames = [...]string{"unknown", "none", "unfair", "fair"}

// String returns the result as text.
func (c Cycles) String() string { return cyclesNames[c] }

// FairCycle is an execution that never ends (a lasso). Prefix leads from the initial state to a cycle, and Cycle leads
// around it.
type FairCycle struct {
	Prefix, Cycle []scenario.Action
}

// cycles decides, after a complete search, whether there are cycles, and returns a fair one if there is any.
func (s *search) cycles() (Cycles, *FairCycle) {
	switch {
	case s.queued > 0 || s.opts.Storage == Bits:
		return CyclesUnknown, nil
	case s.acyclic():
		return NoCycles, nil
	}
	whole := newPlan(s.bounds, Reductions{})
	whole.slow(s.opts.unmemoised)
	if s.views != nil {
		whole.views = states.NewViews()
	}
	return whole.fairCycle(s.ctx, s.opts.Memory)
}

// spends reports whether an action uses up one of the allowed faults. Such an action can't be part of a cycle.
func spends(do scenario.ActionKind) bool {
	switch do {
	case scenario.Drop, scenario.ChannelError, scenario.Lose, scenario.Restart:
		return true
	}
	return do.Crash()
}
