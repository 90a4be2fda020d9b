// Package beliefs judges a history by what its clients believe they hold, without the server's state. The properties
// are mutual-exclusion, stale-belief-ends, fencing-monotone, limit-respected and progress. Package linear judges the
// same history for linearizability.
//
//	judge.go      a [Judge] reads one event after the other
//	contents.go   the possible slots, since an administrator may rightly report that it changed nothing
//	fence.go      fencing tokens
//	limits.go     limits that callers state
//	slots.go      the possible numbers of slots
//	holds.go      the certain holds one by one, and when two clients held one slot
//	audit.go      [Audit]: what an audit at the end of a history shows
package beliefs
