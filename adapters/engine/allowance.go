package engine

import (
	"context"
	"time"
)

// MinimisingShare is the part of the time of a run (Config.Time, ExternalConfig.Time) that is kept for making
// counterexamples smaller, once there are any.
const MinimisingShare = 0.2

// minimisingTries bounds how many scenarios are tried to make one counterexample smaller.
const minimisingTries = 60_000

// allowance is the time that a run may take. It is looked at between executions, never in their midst.
type allowance struct {
	whole    context.Context // over with all of it
	sampling context.Context // over when the rest is kept
}

// allow is the time d of a run that begins now; 0 is no limit.
func allow(ctx context.Context, d time.Duration) (allowance, context.CancelFunc) {
	if d <= 0 {
		ctx, cancel := context.WithCancel(ctx)
		return allowance{ctx, ctx}, cancel
	}
	whole, cancel := context.WithTimeout(ctx, d)
	kept := time.Duration(MinimisingShare * float64(d))
	sampling, stop := context.WithTimeout(whole, d-kept)
	return allowance{whole, sampling}, func() { stop(); cancel() }
}

// spent reports whether it is time to end the search. found says that there is something to make smaller.
func (a allowance) spent(found bool) bool {
	return a.whole.Err() != nil || found && a.sampling.Err() != nil
}

// portion is what one counterexample gets of the time that is left, if so many are to be made smaller, some at the
// same time.
func (a allowance) portion(left, at int) (context.Context, context.CancelFunc) {
	end, limited := a.whole.Deadline()
	if !limited {
		return context.WithCancel(a.whole)
	}
	share := time.Until(end) * time.Duration(min(left, at)) / time.Duration(left)
	return context.WithTimeout(a.whole, share)
}
