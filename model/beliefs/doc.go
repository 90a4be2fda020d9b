// Package beliefs judges a history by what its clients were told and so believe: mutual-exclusion, stale-belief-ends,
// fencing-monotone, limit-respected and progress, where nobody knows what the server had. Package linear judges the same history by what any
// server could have had.
//
//	judge.go      a [Judge] takes in one event after the other
//	contents.go   which slots there may be, so that an administrator may rightly say that there is nothing to be changed
//	fence.go      fencing tokens
//	limits.go     limits that callers state
package beliefs
