package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestCostsSaid: what costs too much is said with what was measured and what is allowed.
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
		m.Reset(lock.Semaphore, &lock.Options{}, 1, []Truth{{Exists: 1 << 1}})
		m.Begin(1, 0, c.op, 0, true)
		for _, method := range c.sent {
			m.Command(1, amqp.Command{Method: method}, amqp.Reply{}, false)
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
