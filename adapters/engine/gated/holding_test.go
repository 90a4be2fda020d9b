package gated_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// TestHolding checks a declaration of what holds the lock. The counterexamples must contain it, and replay with it. If
// no client was ever seen to hold the lock in that way, the report must say so.
func TestHolding(t *testing.T) {
	for how, said := range map[string]bool{"queue jobs.lock": false, "consumer jobs.lock": true} {
		held, err := holding.Parse(how)
		if err != nil {
			t.Fatal(err)
		}
		starter := inprocess.Starter{Name: "locked is success", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			return mutexes.New(ctx, url, mutexes.Queue{LockedIsSuccess: true})
		}}
		res := proveWith(t, gated.Config{
			Lock: gated.Lock{Starter: starter, Kind: lock.Mutex, Holding: held}, Sampling: engine.Sampling{Seed: 1, Scenarios: 20, Until: property.Set(0).With(property.MutualExclusion), Workers: 2},
		})
		if unheld := slices.ContainsFunc(res.Report.Uncontrolled, func(s string) bool { return strings.Contains(s, "nobody was ever seen") }); unheld != said {
			t.Errorf("%s: the report says %q", how, res.Report.Uncontrolled)
		}
		all := res.Counterexamples("")
		if len(all) != 1 || all[0].Holding != held.String() {
			t.Errorf("%s: counterexamples %+v", how, all)
		}
		replayAll(t, res, starter)
	}
}
