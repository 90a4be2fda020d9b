//go:build unix

package queue_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/natstest"
)

// BenchmarkThroughput compares campaigns of one, two and four workers with runs of the same scenarios without a queue.
// It reports the executions per second, and the ratio by clock and by processor time. Each figure is the best of some
// tries, because machines are shared. Shards have the default size, so that the queue costs only some milliseconds for
// each.
func BenchmarkThroughput(b *testing.B) {
	const scenarios, tries = 409_600, 3
	for _, where := range []string{"embedded", "server"} {
		for _, workers := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/%d", where, workers), func(b *testing.B) {
				server := campaign.Server{}
				if where == "server" {
					server.URL = natstest.Start(b, "").URL
				}
				for n := range b.N {
					var with, without cost
					for try := range tries {
						p := plan(b, `{"lockproof": "campaign", "version": 1, "name": "bench-%d-%d", "sample": {}, "budget": {"executions": %d}}`,
							n, try, scenarios)
						if server.URL == "" {
							server.Dir = filepath.Join(b.TempDir(), "queue")
						}
						with = best(with, func() error {
							_, err := queue.Run(b.Context(), campaign.RunConfig{Plan: p, Server: server, Workers: workers})
							return err
						}, b)
						without = best(without, func() error {
							_, err := sample.Prove(b.Context(), sample.Config{Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios, Workers: workers}})
							return err
						}, b)
					}
					b.ReportMetric(scenarios/with.clock.Seconds(), "executions/s")
					b.ReportMetric(100*without.clock.Seconds()/with.clock.Seconds(), "%")
					b.ReportMetric(100*without.processor.Seconds()/with.processor.Seconds(), "processor-%")
				}
			})
		}
	}
}

// cost is the time that a function call takes: by the clock, and on the processors.
type cost struct{ clock, processor time.Duration }

// best calls do and measures its cost. For each of the two times, it returns the minimum of known and the measured
// time. If known is zero, it returns the measured cost.
func best(known cost, do func() error, b *testing.B) cost {
	b.Helper()
	began, used := time.Now(), processor(b)
	if err := do(); err != nil {
		b.Fatal(err)
	}
	took := cost{time.Since(began), processor(b) - used}
	if known == (cost{}) {
		return took
	}
	return cost{min(known.clock, took.clock), min(known.processor, took.processor)}
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
