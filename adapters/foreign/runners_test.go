package foreign_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
)

func runnerOf(t *testing.T, kind lock.Kind, name string, open func(url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	return timedRunner(t, kind, foreign.Timing{}, name, open) // the zero Timing means the default times
}

// timedRunner is runnerOf with other times to wait for clients.
func timedRunner(t *testing.T, kind lock.Kind, timing foreign.Timing, name string, open func(url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Kind: kind, Timing: timing, Starter: inprocess.Starter{
		Name: name, New: func(_ context.Context, url string) (inprocess.Lock, error) { return open(url) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}
