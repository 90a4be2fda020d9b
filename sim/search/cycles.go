package search

import (
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search/internal/states"
)

// Cycles says what is known of the cycles among the states. As operations begin and end only so many
// times, whoever goes round in one does not get on: a cycle that a fair schedule can follow for ever is
// a livelock, or a retry without a bound.
type Cycles uint8

// What can be known.
const (
	// CyclesUnknown is: not everything was visited, or there was no memory left to look.
	CyclesUnknown Cycles = iota
	// NoCycles is: every execution comes to an end.
	NoCycles
	// UnfairCycles are there, but each only while somebody is never let go on who always could.
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
	case s.links().acyclic():
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
