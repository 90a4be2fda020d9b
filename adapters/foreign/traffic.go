package foreign

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/lock"
)

// Traffic is what operations took on the wire, as the server saw it: content, methods that are no commands, and
// all overhead counted in. It knows nothing of the target.
type Traffic map[lock.Op]OperationTraffic

// OperationTraffic is what all calls of an operation took.
type OperationTraffic struct {
	Calls         int
	Sent, Replied gate.Traffic // by the client, by the server
}

// Add adds a call, by what had gone over the wire before and after it.
func (t Traffic) Add(op lock.Op, before, after *gate.Counts) {
	o := t[op]
	o.Calls++
	o.Sent.Add(after.In, 1)
	o.Sent.Add(before.In, -1)
	o.Replied.Add(after.Out, 1)
	o.Replied.Add(before.Out, -1)
	t[op] = o
}

// Merge adds what others took.
func (t Traffic) Merge(others Traffic) {
	for op, o := range others {
		sum := t[op]
		sum.Calls += o.Calls
		sum.Sent.Add(o.Sent, 1)
		sum.Replied.Add(o.Replied, 1)
		t[op] = sum
	}
}
