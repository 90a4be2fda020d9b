package execution

import "github.com/lockproof/lockproof/model/scenario"

// Upcoming chooses a client's next operation in ops, its workload. at is the index of the first operation from next on
// that makes sense, given whether the client holds the lock; len(ops) if there is none. If forever is set, the workload
// is repeated. An acquire makes no sense for a holder. But if a hold can end on its own (lapses), a skipped acquire is
// called later. kept is then its index, and the operations before kept are done. Otherwise kept equals at.
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
