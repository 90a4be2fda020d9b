package search

import (
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search/states"
)

// Cycles is the result about cycles among the states. No operation begins or ends along a cycle, so its clients make
// no progress. If a fair schedule can follow a cycle forever, it is a livelock or an unbounded retry.
type Cycles uint8

// The results.
const (
	// CyclesUnknown: the search was not complete, or had too little memory for the state graph.
	CyclesUnknown Cycles = iota
	// NoCycles: every execution ends.
	NoCycles
	// UnfairCycles: there are cycles, but each starves a client that could always continue.
	UnfairCycles
	// FairCycles are there: see Result.Livelock.
	FairCycles
)

var cyclesNames = [...]string{"unknown", "none", "unfair", "fair"}

// String is one word for it.
func (c Cycles) String() string { return cyclesNames[c] }

// FairCycle is an execution that does not end (a lasso): the steps that lead to a cycle, and once around it.
type FairCycle struct {
	Prefix, Cycle []scenario.Action
}

// cycles looks for cycles once everything was visited.
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

// spends reports whether an action uses up one of the faults allowed. It can't be part of a cycle.
func spends(do scenario.ActionKind) bool {
	switch do {
	case scenario.Drop, scenario.ChannelError, scenario.Lose, scenario.Restart:
		return true
	}
	return do.Crash()
}
