package sim

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// count adds up the costs of client c's operation. It skips an operation during which a fault broke the connection or
// channel, since the operation would include the cost of the repair.
func (w *World) count(c uint8, op lock.Op, r lock.Result) {
	cost, lost, broken := w.Monitor.Spent(c)
	if w.Costs == nil || broken || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut || cost.Connections > 0 {
		return
	}
	w.Costs.Add(op, r, lost, [monitor.Measures]int{
		int(cost.Commands), int(cost.Trips), int(cost.Replies), int(cost.Channels), int(cost.Connections),
	})
}
