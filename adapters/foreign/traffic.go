package foreign

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/model/lock"
)

// Traffic is what operations took on the wire, as the server saw it: content, methods that are no commands, and
// all overhead counted in. It knows nothing of the target.
type Traffic map[lock.Op]OperationTraffic

// OperationTraffic is what all calls of an operation took.
type OperationTraffic struct {
	Calls         int
	Sent, Replied wire.Traffic // by the client, by the broker
}

// Add adds a call, by what had gone over the wire before and after it.
func (t Traffic) Add(op lock.Op, before, after *wire.Counts) {
	o := t[op]
	o.Calls++
	o.Sent.Frames += after.In.Frames - before.In.Frames
	o.Sent.Bytes += after.In.Bytes - before.In.Bytes
	o.Replied.Frames += after.Out.Frames - before.Out.Frames
	o.Replied.Bytes += after.Out.Bytes - before.Out.Bytes
	t[op] = o
}

// Merge adds what others took.
func (t Traffic) Merge(others Traffic) {
	for op, o := range others {
		sum := t[op]
		sum.Calls += o.Calls
		sum.Sent.Frames += o.Sent.Frames
		sum.Sent.Bytes += o.Sent.Bytes
		sum.Replied.Frames += o.Replied.Frames
		sum.Replied.Bytes += o.Replied.Bytes
		t[op] = sum
	}
}
