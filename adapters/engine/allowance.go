package engine

import (
	"context"
	"time"
)

// MinimisingShare is the part of the time of a run (the Time of its configuration) that is kept for making
// counterexamples smaller, once there are any.
const MinimisingShare = 0.2

// MinimisingTries bounds how many scenarios are tried to make one counterexample smaller.
const MinimisingTries = 60_000

// Allowance is the time that a run may take. It is looked at between executions, never in their midst.
type Allowance struct {
	Whole    context.Context // over with all of it
	Sampling context.Context // over when the rest is kept
}

// Allow is the time d of a run that begins now; 0 is no limit.
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

// Spent reports whether it is time to end the search. found says that there is something to make smaller.
func (a Allowance) Spent(found bool) bool {
	return a.Whole.Err() != nil || found && a.Sampling.Err() != nil
}

// Rest is the time for making counterexamples smaller, from now on: what is kept for that, also where the search was over early.
func (a Allowance) Rest() (Allowance, context.CancelFunc) {
	whole, limited := a.Whole.Deadline()
	sampling, _ := a.Sampling.Deadline()
	if kept := whole.Sub(sampling); limited && kept > 0 {
		rest, cancel := context.WithTimeout(a.Whole, kept)
		return Allowance{rest, a.Sampling}, cancel
	}
	return a, func() {}
}

// Portion is the share of the remaining time for one counterexample, if left are still to be minimised, some in
// parallel.
func (a Allowance) Portion(left, at int) (context.Context, context.CancelFunc) {
	end, limited := a.Whole.Deadline()
	if !limited {
		return context.WithCancel(a.Whole)
	}
	share := time.Until(end) * time.Duration(min(left, at)) / time.Duration(left)
	return context.WithTimeout(a.Whole, share)
}
