package search

import (
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search/states"
)

// Cycles says whether the states have cycles. Along a cycle no operation begins or ends, so its clients make no progress. If
// a fair schedule can follow a cycle forever, the cycle is a livelock or an unbounded retry.
type Cycles uint8

// The results.
const (
	// CyclesUnknown: the search was not complete, or had too little memory for the state graph.
	CyclesUnknown Cycles = iota
	// NoCycles: every execution ends.
	NoCycles
	// UnfairCycles: there are cycles, but each starves a client that could always continue.
	UnfairCycles
	// FairCycles: there is a fair cycle, see Result.Livelock.
	FairCycles
)

var cyclesNames = [...]string{"unknown", "none", "unfair", "fair"}

// String is the result in one word.
func (c Cycles) String() string { return cyclesNames[c] }

// FairCycle is an execution that does not end (a lasso): the actions that lead to a cycle, and the actions of the cycle.
type FairCycle struct {
	Prefix, Cycle []scenario.Action
}

// cycles looks for cycles after a complete search.
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
