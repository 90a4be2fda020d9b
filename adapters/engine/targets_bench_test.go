package engine_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// BenchmarkControlled measures how many scenarios of each example the gate runs per second on the simulated broker,
// with one worker per processor. A scenario has three clients, about 40 commands and no crash. The benchmark also
// reports the median duration of a scenario.
func BenchmarkControlled(b *testing.B) {
	ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}, {Op: lock.Acquire}, {Op: lock.Release}}
	sc := scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 2}},
		Clients:  []scenario.Client{{Ops: ops}, {Ops: ops}, {Ops: ops}},
		Schedule: scenario.Schedule{Choices: []uint8{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}},
	}
	for _, e := range enginetest.Examples {
		b.Run(e.Folder, func(b *testing.B) {
			workers := runtime.GOMAXPROCS(0)
			if e.Command != "" {
				all, done := subprocess.LeaveProcessors()
				defer done()
				workers = all
			}
			runners := make([]*foreign.Runner, workers)
			for i := range runners {
				s, err := foreign.NewRunner(b.Context(), foreign.Config{Open: plugin.Simulated, Starter: e.Starter(b, ""), Kind: lock.Semaphore})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				runners[i] = s
				if _, err := s.Run(b.Context(), &sc); err != nil { // starts the clients
					b.Fatal(err)
				}
			}
			var took []time.Duration
			var commands int
			var mu sync.Mutex
			var wg sync.WaitGroup
			b.ResetTimer()
			for w, s := range runners {
				wg.Go(func() {
					for range (b.N + len(runners) - 1 - w) / len(runners) {
						began := time.Now()
						x, err := s.Run(b.Context(), &sc)
						if err != nil {
							b.Error(err)
							return
						}
						mu.Lock()
						took, commands = append(took, time.Since(began)), commands+x.Sent
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "scenarios/s")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs/scenario")
			b.ReportMetric(float64(commands)/float64(len(took)), "commands/scenario")
		})
	}
}

// BenchmarkFirstViolation measures the median time until an example with a bug violates the property that the bug
// breaks. The time includes starting the clients.
func BenchmarkFirstViolation(b *testing.B) {
	for _, e := range enginetest.Examples {
		for bug, property := range e.Breaks {
			b.Run(e.Folder+"/"+bug, func(b *testing.B) {
				source := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 1)
				var took []time.Duration
				for b.Loop() {
					began := time.Now()
					firstViolation(b, &e, bug, property, source)
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				b.ReportMetric(took[len(took)/2].Seconds(), "median-s")
			})
		}
	}
}

func firstViolation(b *testing.B, e *enginetest.Example, bug string, property property.Property, source *sim.Source) {
	runner, err := foreign.NewRunner(b.Context(), foreign.Config{Open: plugin.Simulated, Starter: e.Starter(b, bug), Kind: lock.Semaphore})
	if err != nil {
		b.Fatal(err)
	}
	defer runner.Close()
	for i := 0; ; i++ {
		sc := runner.Playable(source.Scenario(i))
		x, err := runner.Run(b.Context(), &sc)
		if err != nil {
			b.Fatal(err)
		}
		if x.Found.Has(property) {
			return
		}
	}
}
