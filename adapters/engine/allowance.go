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

// Allowance is the time limit of a run. The run checks it between executions, never during one.
type Allowance struct {
	Whole    context.Context // ends when the whole time is over
	Sampling context.Context // ends when only the reserved time is left
}

// Allow starts the time limit of a run: the run may take d from now on. d = 0 means no limit.
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

// Spent reports whether the search for violations must end. found says that there are counterexamples to minimise; the
// search then ends earlier, so that the reserved time is left for them.
func (a Allowance) Spent(found bool) bool {
	return a.Whole.Err() != nil || found && a.Sampling.Err() != nil
}

// Rest returns the time limit for minimising counterexamples, which starts now. It is the reserved time, even if the
// search ended early.
func (a Allowance) Rest() (Allowance, context.CancelFunc) {
	whole, limited := a.Whole.Deadline()
	sampling, _ := a.Sampling.Deadline()
	if kept := whole.Sub(sampling); limited && kept > 0 {
		rest, cancel := context.WithTimeout(a.Whole, kept)
		return Allowance{rest, a.Sampling}, cancel
	}
	return a, func() {}
}

// Portion returns the time limit for minimising one counterexample. left is the number of counterexamples still to be
// minimised, and at is how many are minimised in parallel.
func (a Allowance) Portion(left, at int) (context.Context, context.CancelFunc) {
	end, limited := a.Whole.Deadline()
	if !limited {
		return context.WithCancel(a.Whole)
	}
	share := time.Until(end) * time.Duration(min(left, at)) / time.Duration(left)
	return context.WithTimeout(a.Whole, share)
}
