package search

import (
	"context"
	"maps"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestNothingLeftOut: reductions leave out no state while a connection can still fail between two commands, since the
// effect depends on the moment. They leave out nothing either with a shared connection, passing time or two locks.
// Symmetry never merges clients with different workloads.
func TestNothingLeftOut(t *testing.T) {
	one := func(op lock.Op) scenario.Client {
		return scenario.Client{Ops: []scenario.Operation{{Op: op, Arg: 1}}}
	}
	user := scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}}
	for name, change := range map[string]func(b *sim.Bounds){
		"drop":          func(b *sim.Bounds) { b.Faults.Drops = 1 },
		"channel error": func(b *sim.Bounds) { b.Faults.ChannelErrors = 1 },
		"lost reply":    func(b *sim.Bounds) { b.Faults.Lost = 1 },
		"restart":       func(b *sim.Bounds) { b.Faults.Restarts = 1 },
		"one connection": func(b *sim.Bounds) {
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })
			b.Clients = []scenario.Client{one(lock.Acquire), one(lock.Acquire)}
		},
		"one connection, only looking": func(b *sim.Bounds) {
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })
			b.Properties = 1 << property.MutualExclusion // the monitor then stores nothing about a first read
			b.Clients = []scenario.Client{one(lock.Count), one(lock.Count)}
		},
		"time": func(b *sim.Bounds) {
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Jitter = 2 })
			b.Clients = []scenario.Client{one(lock.Acquire), one(lock.Count)}
		},
		"two locks": func(b *sim.Bounds) {
			b.Locks = append(b.Locks, scenario.Lock{Name: "mails", Slots: 1})
			b.Clients = []scenario.Client{one(lock.Count), one(lock.Acquire)}
			b.Clients[0].Lock = 1
		},
	} {
		b := standard(0, 0, 0, 1, 0)
		b.Clients = []scenario.Client{user, one(lock.Count)}
		change(&b)
		want, ok := plainly(b, 20_000)
		if !ok {
			t.Fatalf("%s: too many states", name)
		}
		got := Run(context.Background(), b, Options{Reductions: AllReductions, Workers: 1})
		f := &b.Faults
		if less := got.States < want.States; less != (f.Drops|f.ChannelErrors|f.Lost != 0) || !less && got.Transitions != want.Transitions {
			t.Errorf("%s: %d states and %d transitions; plainly %d and %d", name, got.States, got.Transitions, want.States, want.Transitions)
		}
		if !maps.Equal(got.Coverage.Results, want.Coverage.Results) || !maps.Equal(got.Coverage.Ends, want.Coverage.Ends) {
			t.Errorf("%s: operations end as %v, the slots as %v; plainly %v, %v", name, got.Coverage.Results, got.Coverage.Ends, want.Coverage.Results, want.Coverage.Ends)
		}
	}
}
