package foreign

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
)

// Traffic is the clients' traffic by operation, as the server saw it. It includes message content, methods that are not
// commands, and all overhead.
type Traffic map[lock.Op]OperationTraffic

// OperationTraffic is the traffic of all calls of one operation, and their number.
type OperationTraffic struct {
	Calls         int
	Sent, Replied gate.Traffic // frames and bytes from the client, and from the server
}

// Add adds one call of op. before and after are the connection's totals before and after the call.
func (t Traffic) Add(op lock.Op, before, after *gate.Counts) {
	o := t[op]
	o.Calls++
	o.Sent.Add(after.In, 1)
	o.Sent.Add(before.In, -1)
	o.Replied.Add(after.Out, 1)
	o.Replied.Add(before.Out, -1)
	t[op] = o
}

// Merge adds the traffic in others.
func (t Traffic) Merge(others Traffic) {
	for op, o := range others {
		sum := t[op]
		sum.Calls += o.Calls
		sum.Sent.Add(o.Sent, 1)
		sum.Replied.Add(o.Replied, 1)
		t[op] = sum
	}
}
