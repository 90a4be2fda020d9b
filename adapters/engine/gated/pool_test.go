package gated

import (
	"runtime"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
)

// TestCrawls checks when an extra worker starts: if a worker has run few executions recently and enough scenarios are
// left. More extra workers than configured ones start only if the processors have little to do and clients start
// quickly.
func TestCrawls(t *testing.T) {
	target := amqplock.References[1]
	for _, c := range []struct {
		played, left, more, added int
		quick                     bool
		used                      uint64 // processor load since the last measurement, in percent
		want                      int
	}{
		{played: 3, left: 120, more: 1, used: 100, want: 1},
		{played: little, left: 120, more: 1, want: 0},
		{played: 3, left: 20, more: 1, want: 0},
		{played: 3, left: 120, more: 0, want: 0},
		{played: 3, left: 120, more: 2, added: 1, quick: true, used: 0, want: 1},
		{played: 3, left: 120, more: 2, added: 1, quick: true, used: 100, want: 0},
		{played: 3, left: 120, more: 2, added: 1, quick: false, used: 0, want: 0},
		{played: 3, left: 120, more: 2, added: 2, quick: true, used: 0, want: 0},
	} {
		s := foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}
		run, err := Config{Lock: Lock{Starter: s, Kind: target.Kind}, Sampling: engine.Sampling{Seed: 1, Scenarios: c.left, Workers: 1}, More: c.more}.run()
		if err != nil {
			t.Fatal(err)
		}
		run.allowed = engine.Allowance{Whole: t.Context(), Sampling: t.Context()}
		run.to, run.added = c.left, c.added
		run.loadNow = func() load { return load{busy: 1000 + c.used, idle: 1000 + 100 - c.used} }
		w := &worker{sharedRun: run, quick: c.quick, pace: pace{since: time.Now().Add(-slowly), load: load{1000, 1000}, played: c.played}}
		w.crawls(t.Context())
		w.crawls(t.Context())
		run.working.Wait()
		if len(run.workers) != c.want || run.sum.Scenarios != c.want*c.left {
			t.Errorf("%+v: %d more play %d scenarios", c, len(run.workers), run.sum.Scenarios)
		}
		for _, w := range run.workers {
			if err := w.runner.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLoad checks that the load of the processors can be read on Linux, and that the number of busy processors is
// computed from it.
func TestLoad(t *testing.T) {
	first := loadNow()
	if _, ok := first.processors(first); ok {
		t.Error("no time has passed, but it is said how many processors were at work")
	}
	if runtime.GOOS != "linux" {
		return
	}
	if first.busy == 0 || first.idle == 0 {
		t.Fatalf("%+v is read", first)
	}
	used, ok := load{busy: first.busy + 30, idle: first.idle + 10}.processors(first)
	if !ok || used != 0.75*float64(runtime.NumCPU()) {
		t.Errorf("%v of %d processors are said to have been at work, %v", used, runtime.NumCPU(), ok)
	}
}
