package foreign

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
)

// Traffic is the traffic of operations on the wire, as the server saw it. It includes content, methods that are not
// commands, and all overhead. It does not depend on the target.
type Traffic map[lock.Op]OperationTraffic

// OperationTraffic is the traffic of all calls of one operation.
type OperationTraffic struct {
	Calls         int
	Sent, Replied gate.Traffic // by the client, and by the server
}

// Add adds a call of op, from the totals before and after it.
func (t Traffic) Add(op lock.Op, before, after *gate.Counts) {
	o := t[op]
	o.Calls++
	o.Sent.Add(after.In, 1)
	o.Sent.Add(before.In, -1)
	o.Replied.Add(after.Out, 1)
	o.Replied.Add(before.Out, -1)
	t[op] = o
}

// Merge adds the traffic of others.
func (t Traffic) Merge(others Traffic) {
	for op, o := range others {
		sum := t[op]
		sum.Calls += o.Calls
		sum.Sent.Add(o.Sent, 1)
		sum.Replied.Add(o.Replied, 1)
		t[op] = sum
	}
}
