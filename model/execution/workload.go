package execution

import "github.com/lockproof/lockproof/model/scenario"

// Upcoming is the index at of the client's next operation: the first one from next on that makes sense, given whether
// the client holds the lock; len(ops) if there is none now. With forever, the workload starts over. An acquire makes
// no sense for a holder. But if holds can end on their own (lapses), the acquire waits for that end: kept is then its
// index, and the operations before kept are done. Otherwise kept == at.
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
