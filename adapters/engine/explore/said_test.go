package explore_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// TestBoundsSaid checks how a report describes the explored configuration, including calls and lock names, for several
// lock types.
func TestBoundsSaid(t *testing.T) {
	for _, c := range []struct {
		explore.Exploration
		want string
	}{
		{explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 2}}, "1 client, 1 round, 2 slots, no faults"},
		{explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Admins: 1, Calls: calls(call(lock.Acquire)), AdminCalls: calls(callN(lock.Add, 2)), Names: []string{"a", "b"}}},
			"2 clients, 1 round, 1 administrator, 1 slot, no faults (clients call acquire; administrators call add:2; locks a and b)"},
		{explore.Exploration{Target: amqplock.References[1], Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 2}}, "1 client, 1 round, no faults"},
		{explore.Exploration{Target: amqplock.References[2], Workload: explore.Workload{Clients: 1, Rounds: 1}}, "1 client, 1 round, not created yet, no faults"},
	} {
		res, err := explore.Run(t.Context(), c.Exploration)
		if err != nil {
			t.Fatal(err)
		}
		if res.Report.Bounds != c.want {
			t.Errorf("said %q, want %q", res.Report.Bounds, c.want)
		}
	}
}
