package engine

import (
	"context"
	"time"
)

// MinimisingShare is the share of a run's time (the Time of its configuration) that is reserved for minimising
// counterexamples, once there are any.
const MinimisingShare = 0.2

// MinimisingTries is the maximum number of scenarios that are tried to minimise one counterexample.
const MinimisingTries = 60_000

// Allowance is the time that a run may take. It is checked between executions, never during one.
type Allowance struct {
	Whole    context.Context // ends with the whole time
	Sampling context.Context // ends when only the reserved time is left
}

// Allow is the allowance of a run that begins now and may take d; 0 is no limit.
func Allow(ctx context.Context, d time.Duration) (Allowance, context.CancelFunc) {
	if d <= 0 {
		ctx, cancel := context.WithCancel(ctx)
		return Allowance{ctx, ctx}, cancel
	}
	whole, cancel := context.WithTimeout(ctx, d)
	kept := time.Duration(MinimisingShare * float64(d))
	sampling, stop := context.WithTimeout(whole, d-kept)
	return Allowance{whole, sampling}, func() { stop(); cancel() }
}

// Spent reports whether it is time to end the search. found says that there are counterexamples to minimise.
func (a Allowance) Spent(found bool) bool {
	return a.Whole.Err() != nil || found && a.Sampling.Err() != nil
}

// Rest is the time for minimising counterexamples, from now on: the reserved time, also if the search ended early.
func (a Allowance) Rest() (Allowance, context.CancelFunc) {
	whole, limited := a.Whole.Deadline()
	sampling, _ := a.Sampling.Deadline()
	if kept := whole.Sub(sampling); limited && kept > 0 {
		rest, cancel := context.WithTimeout(a.Whole, kept)
		return Allowance{rest, a.Sampling}, cancel
	}
	return a, func() {}
}

// Portion is the share of the remaining time for one counterexample, if left counterexamples are still to be minimised, at
// of them in parallel.
func (a Allowance) Portion(left, at int) (context.Context, context.CancelFunc) {
	end, limited := a.Whole.Deadline()
	if !limited {
		return context.WithCancel(a.Whole)
	}
	share := time.Until(end) * time.Duration(min(left, at)) / time.Duration(left)
	return context.WithTimeout(a.Whole, share)
}
