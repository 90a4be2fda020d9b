package monitor

import (
	"github.com/lockproof/lockproof/model/lock"
)

// CostClass is a class of operations with similar costs: an operation with its outcome.
type CostClass uint8

// The cost classes.
const (
	AcquireFirst  CostClass = iota // slot 1 acquired, no race lost
	AcquireLater                   // a higher slot acquired, no race lost
	AcquireRaced                   // a slot acquired after RESOURCE_LOCKED
	AcquireFull                    // every slot taken, no race lost
	AcquireOther                   // full, withdrawn or given up after races
	VerifyHeld                     // the slot is held
	VerifyRemoved                  // the slot is lost
	ReleaseOK
	CreateOK
	AddOK
	RemoveOK
	DestroyOK
	CountOK
	WaitOK
	RefreshHeld // the lease continues
	RefreshLost // the lease is lost
	CostClasses // the number of classes
)

var costClassNames = [CostClasses]string{
	"acquire slot 1", "acquire a later slot", "acquire after a lost race", "acquire, all taken",
	"acquire, withdrawn or given up", "verify, held", "verify, not held", "release", "create", "add",
	"remove", "destroy", "count", "wait", "refresh, held", "refresh, not held",
}

// String is the cost class in words.
func (s CostClass) String() string { return costClassNames[s] }

// The measures of a tally.
const (
	Commands = iota
	Trips    // round trips
	Replies  // round trips if the client waited for every reply
	Channels // opened
	Connections
	Measures // the number of measures
)

// Tally adds up the costs of one class, by measure.
type Tally struct {
	Count         int
	Sum, Min, Max [Measures]int
}

func (t *Tally) add(cost [Measures]int) {
	for k, n := range cost {
		if t.Count == 0 || n < t.Min[k] {
			t.Min[k] = n
		}
		t.Sum[k] += n
		t.Max[k] = max(t.Max[k], n)
	}
	t.Count++
}

func (t *Tally) merge(o *Tally) {
	if o.Count == 0 {
		return
	}
	for k := range o.Sum {
		if t.Count == 0 || o.Min[k] < t.Min[k] {
			t.Min[k] = o.Min[k]
		}
		t.Sum[k] += o.Sum[k]
		t.Max[k] = max(t.Max[k], o.Max[k])
	}
	t.Count += o.Count
}

// Costs adds up the costs of operations, by cost class. The zero value is ready to use.
type Costs [CostClasses]Tally

// Add counts one completed operation; lost is the number of its claims that RESOURCE_LOCKED refused.
func (cs *Costs) Add(op lock.Op, r lock.Result, lost int, cost [Measures]int) {
	cs[costClass(op, r, lost)].add(cost)
}

// Merge adds the sums of another Costs.
func (cs *Costs) Merge(o *Costs) {
	for i := range cs {
		cs[i].merge(&o[i])
	}
}

func costClass(op lock.Op, r lock.Result, lost int) CostClass {
	switch op {
	case lock.Acquire:
		return acquiring(r, lost)
	case lock.Refresh:
		if r.Held {
			return RefreshHeld
		}
		return RefreshLost
	case lock.Verify:
		if r.Held {
			return VerifyHeld
		}
		return VerifyRemoved
	case lock.Release:
		return ReleaseOK
	}
	return CreateOK + CostClass(op-lock.Create)
}

func acquiring(r lock.Result, lost int) CostClass {
	switch {
	case r.Held && lost > 0:
		return AcquireRaced
	case r.Held && r.Slot == 1:
		return AcquireFirst
	case r.Held:
		return AcquireLater
	case r.Reason == lock.Full && lost == 0:
		return AcquireFull
	}
	return AcquireOther
}

// mutexCostClasses names cost classes for locks without slots.
var mutexCostClasses = map[CostClass]string{
	AcquireFirst: "acquire, free", AcquireLater: "acquire, free", AcquireFull: "acquire, taken", AcquireOther: "acquire, failed otherwise",
}

// Of returns the name of the cost class for a lock of kind k.
func (s CostClass) Of(k lock.Kind) string {
	if said, ok := mutexCostClasses[s]; ok && k != lock.Semaphore {
		return said
	}
	return s.String()
}
