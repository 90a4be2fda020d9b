package execution

import "github.com/lockproof/lockproof/model/scenario"

// Upcoming is the index of the operation that a client calls next: the first from next on that makes sense, holding the
// lock or not, and len(ops) if none is left. Where a workload goes on for ever, it begins again.
func Upcoming(ops []scenario.Operation, next int, holding, forever bool) int {
	for turns := 0; turns <= len(ops)+1; turns++ {
		switch {
		case next < len(ops) && scenario.Sensible(ops[next].Op, holding):
			return next
		case next < len(ops):
			next++
		case forever:
			next = 0
		default:
			return len(ops)
		}
	}
	return len(ops)
}
