package execution

import "github.com/lockproof/lockproof/model/scenario"

// Upcoming chooses a client's next operation in ops, its workload. It looks for the first operation, from index next
// on, that makes sense; holding says whether the client holds the lock. at is the operation's index, or len(ops) if
// there is none. If forever is set, the search continues at the beginning of the workload. An acquire makes no sense
// for a holder, and is skipped. But if lapses is set, the hold can end on its own, and the client calls the first
// skipped acquire later. kept is then the index of this acquire; otherwise kept equals at. The operations before kept
// are done.
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
