package monitor

import (
	"github.com/lockproof/lockproof/model/lock"
)

// CostClass is a class of operations with similar costs, such as acquires that get slot 1.
type CostClass uint8

// The cost classes: operations with their outcomes.
const (
	AcquireFirst  CostClass = iota // slot 1 acquired, without a lost race
	AcquireLater                   // a higher slot acquired, without a lost race
	AcquireRaced                   // a slot acquired after at least one lost race (RESOURCE_LOCKED)
	AcquireFull                    // every slot was taken, without a lost race
	AcquireOther                   // any other acquire that failed
	VerifyHeld                     // a verify that says held
	VerifyRemoved                  // any other verify
	ReleaseOK
	CreateOK
	AddOK
	RemoveOK
	DestroyOK
	CountOK
	WaitOK
	RefreshHeld // a refresh that says held
	RefreshLost // any other refresh
	CostClasses // the number of classes
)

var costClassNames = [CostClasses]string{
	"acquire slot 1", "acquire a later slot", "acquire after a lost race", "acquire, all taken",
	"acquire, withdrawn or given up", "verify, held", "verify, not held", "release", "create", "add",
	"remove", "destroy", "count", "wait", "refresh, held", "refresh, not held",
}

// String is the name of the cost class for a semaphore, such as "acquire slot 1".
func (s CostClass) String() string { return costClassNames[s] }

// The measures of an operation's cost.
const (
	Commands = iota
	Trips    // round trips
	Replies  // round trips if the client waits for every reply
	Channels // channels opened
	Connections
	Measures // the number of measures
)

// Tally has the number of operations in a cost class, and the sum, minimum and maximum of each measure.
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

// Costs has the costs of many operations, by cost class. The zero value is ready to use.
type Costs [CostClasses]Tally

// Add adds a completed operation. lost is the number of its claims that were refused with RESOURCE_LOCKED.
func (cs *Costs) Add(op lock.Op, r lock.Result, lost int, cost [Measures]int) {
	cs[costClass(op, r, lost)].add(cost)
}

// Merge adds the operations of o.
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

// mutexCostClasses are the names of cost classes for locks without slots, where they differ.
var mutexCostClasses = map[CostClass]string{
	AcquireFirst: "acquire, free", AcquireLater: "acquire, free", AcquireFull: "acquire, taken", AcquireOther: "acquire, failed otherwise",
}

// Of is the name of the cost class for a lock of type k.
func (s CostClass) Of(k lock.Kind) string {
	if said, ok := mutexCostClasses[s]; ok && k != lock.Semaphore {
		return said
	}
	return s.String()
}
