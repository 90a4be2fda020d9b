package external_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/external/externaltest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// BenchmarkScenarios is how many scenarios pass the gate in a second: three clients of a Go library
// behind real sockets, about 40 commands.
func BenchmarkScenarios(b *testing.B) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	ops := []scenario.Operation{{Op: a}, {Op: v}, {Op: r}, {Op: a}, {Op: v}, {Op: r}}
	sc := scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 2}},
		Clients:  []scenario.Client{{Ops: ops}, {Ops: ops}, {Ops: ops}},
		Schedule: scenario.Schedule{Choices: []uint8{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}},
	}
	target := amqplock.References[0]
	play := func(b *testing.B, next func() bool, runner *external.Runner) (commands int) {
		for next() {
			x, err := runner.Run(b.Context(), &sc)
			if err != nil {
				b.Error(err)
				return
			}
			commands += x.Sent
		}
		return commands
	}
	o := amqplock.Table.Edit(amqplock.DefaultOptions(), func(o *amqplock.Options) { o.Pipeline = 0 })
	edit := func(c *external.Config) { c.Starter = externaltest.Machines{Target: target, Options: o} }
	b.Run("one", func(b *testing.B) {
		runner := newRunner(b, target, edit)
		n := play(b, b.Loop, runner)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
		b.ReportMetric(float64(n)/float64(b.N), "commands/scenario")
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) { play(b, pb.Next, newRunner(b, target, edit)) })
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
	})
}
