package execution

import "github.com/lockproof/lockproof/model/scenario"

// Upcoming is the index of the operation that a client calls next, holding the lock or not: the first from next on that
// makes sense; len(ops) if there is none now. Where a workload goes on for ever, it begins again. The operations before kept
// are passed over for good. An acquire of a client that holds the lock is not where its hold may end without its doing
// (lapses): when that has happened, the client acquires again. kept == at unless one is kept.
func Upcoming(ops []scenario.Operation, next int, holding, lapses, forever bool) (kept, at int) {
	kept = -1
	for turns := 0; turns <= len(ops)+1; turns++ {
		switch {
		case next < len(ops) && scenario.Sensible(ops[next].Op, holding):
			if kept < 0 {
				kept = next
			}
			return kept, next
		case next < len(ops):
			if kept < 0 && holding && lapses {
				kept = next
			}
			next++
		case forever:
			next = 0
		default:
			turns = len(ops) + 1
		}
	}
	if kept < 0 {
		kept = len(ops)
	}
	return kept, len(ops)
}
