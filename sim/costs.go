package sim

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// count adds the cost of client c's operation to w.Costs. It skips operations that a fault has interrupted, that had to
// reconnect, or that timed out: their cost would include that of the repair.
func (w *World) count(c uint8, op lock.Op, r lock.Result) {
	cost, lost, broken := w.Monitor.Spent(c)
	if w.Costs == nil || broken || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut || cost.Connections > 0 {
		return
	}
	w.Costs.Add(op, r, lost, [monitor.Measures]int{
		int(cost.Commands), int(cost.Trips), int(cost.Replies), int(cost.Channels), int(cost.Connections),
	})
}
