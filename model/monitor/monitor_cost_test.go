package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestCostsSaid: the detail of a violated budget names the actual cost and the allowed one.
func TestCostsSaid(t *testing.T) {
	probe := amqp.Command{Method: amqp.BasicPublish}
	held := lock.Result{Outcome: lock.Done, Held: true, Slot: 1}
	for _, c := range []struct {
		op   lock.Op
		sent []amqp.Method
		want string
	}{
		{lock.Verify, []amqp.Method{probe.Method}, ""},
		{lock.Verify, []amqp.Method{probe.Method, probe.Method}, "c1's verify took 2 round trips, at most 1 allowed"},
		{lock.Verify, []amqp.Method{amqp.ConnectionOpen},
			"c1's verify reconnected: it opened 1 connection, though it had one when it began"},
		{lock.Verify, []amqp.Method{amqp.ChannelOpen, probe.Method},
			"c1's verify took 2 round trips, at most 1 allowed; opened 1 channel, at most 0 allowed"},
		{lock.Acquire, []amqp.Method{probe.Method, probe.Method, probe.Method, probe.Method, probe.Method},
			"c1's acquire took 5 round trips, at most 4 allowed"},
	} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 1, []Truth{{Exists: 1 << 1}})
		m.Begin(1, 0, c.op, 0, true)
		for _, method := range c.sent {
			exchanged(&m, 1, amqp.Command{Method: method}, amqp.Reply{}, false)
		}
		m.End(1, held, 1, true)
		got := ""
		for _, v := range m.TakeNew() {
			if v.Property == property.CheapVerify || v.Property == property.CheapAcquire {
				got = v.Explain()
			}
		}
		if got != c.want {
			t.Errorf("%v: said %q, want %q", c.sent, got, c.want)
		}
	}
}

// TestCostClasses: the outcome of an operation decides its cost class.
func TestCostClasses(t *testing.T) {
	yes := func(slot uint8) lock.Result { return lock.Result{Outcome: lock.Done, Held: true, Slot: slot} }
	no := func(why lock.Reason) lock.Result { return lock.Result{Outcome: lock.Failed, Reason: why} }
	for _, c := range []struct {
		op   lock.Op
		r    lock.Result
		lost int
		want string
	}{
		{lock.Acquire, yes(1), 0, "acquire slot 1"}, {lock.Acquire, yes(2), 0, "acquire a later slot"},
		{lock.Acquire, yes(1), 1, "acquire after a lost race"}, {lock.Acquire, yes(2), 2, "acquire after a lost race"},
		{lock.Acquire, no(lock.Full), 0, "acquire, all taken"}, {lock.Acquire, no(lock.Full), 1, "acquire, withdrawn or given up"},
		{lock.Acquire, no(lock.Withdrawn), 0, "acquire, withdrawn or given up"}, {lock.Acquire, no(lock.GaveUp), 2, "acquire, withdrawn or given up"},
		{lock.Verify, yes(1), 0, "verify, held"}, {lock.Verify, no(lock.Removed), 0, "verify, not held"},
		{lock.Release, lock.Result{}, 0, "release"}, {lock.Create, lock.Result{}, 0, "create"}, {lock.Add, lock.Result{}, 0, "add"},
		{lock.Remove, lock.Result{}, 0, "remove"}, {lock.Destroy, lock.Result{}, 0, "destroy"}, {lock.Count, lock.Result{}, 0, "count"},
		{lock.Wait, lock.Result{}, 0, "wait"},
	} {
		var costs Costs
		costs.Add(c.op, c.r, c.lost, [Measures]int{5, 4, 3, 2, 1})
		for class := range CostClasses {
			if (costs[class].Count == 1) != (class.String() == c.want) {
				t.Errorf("%s, %+v, %d races lost: counted %d times as %q", c.op, c.r, c.lost, costs[class].Count, class)
			}
		}
	}
}
