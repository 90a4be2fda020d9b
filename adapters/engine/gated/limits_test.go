package gated_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// TestLimitedPrograms checks programs that receive a limit on the number of holders with each acquire. They are judged
// by these limits. The counterexample of a wrong program must replay from its file.
func TestLimitedPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in several languages")
	}
	e := enginetest.LimitedProgram
	e.Need(t)
	t.Parallel()
	for lock, wrong := range map[string]bool{"Counted": false, "CountedFirst": true, "SlotsBelowLimit": true} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			if !wrong {
				holds(t, &enginetest.Example{Folder: e.Folder, Command: e.Command + " " + lock}, enginetest.Simulated(t), 30)
				return
			}
			found := enginetest.CounterexampleOf(t, e.Prove(t, enginetest.Simulated(t), lock, 400, set(property.LimitRespected)), property.LimitRespected)
			path := filepath.Join(t.TempDir(), "counterexample.json")
			if err := found.Save(path); err != nil {
				t.Fatal(err)
			}
			read, err := histories.LoadCounterexample(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := gated.Replay(t.Context(), read, e.Starter(t, lock), gated.Server{})
			if err != nil {
				t.Fatal(err)
			}
			if drawn := enginetest.Drawn(t, r.Trace); r.Violation == nil || !strings.Contains(drawn, "acquire with limit 1") {
				t.Errorf("the counterexample does not replay, or tells of no limit:\n%s", drawn)
			}
		})
	}
}

// TestLimitsAnnounced checks locks whose callers state limits: limit-respected must be judged by the history, and the
// report must list it.
func TestLimitsAnnounced(t *testing.T) {
	t.Parallel()
	verdict := func(d semaphores.Design, asked property.Set) (*report.PropertyResult, string) {
		res, err := gated.Prove(t.Context(), gated.Config{
			Lock: gated.Lock{Starter: inprocess.Starter{Name: "some", New: enginetest.Semaphore(d)}, Kind: lock.Semaphore}, Sampling: engine.Sampling{Seed: 1, Scenarios: inShort(20)}, Judging: engine.Judging{Properties: asked},
		})
		if err != nil {
			t.Fatal(err)
		}
		var card strings.Builder
		report.WriteCard(&card, res.Report, style.Style{})
		return res.Report.Result(property.LimitRespected), card.String()
	}
	for _, d := range []semaphores.Design{semaphores.Limited{}, semaphores.Counted{}} {
		if r, card := verdict(d, 0); r == nil || r.Skip != "" || r.Checked == 0 || r.Evidence != property.FromHistory || !strings.Contains(card, "limit-respected") {
			t.Errorf("%T: %+v\n%s", d, r, card)
		}
	}
}

// stating is a lock that records the limits it receives.
type stating struct {
	inprocess.Limited
	limits *[]int
}

func (l stating) AcquireLimited(ctx context.Context, name string, limit int) (int, error) {
	*l.limits = append(*l.limits, limit)
	return l.Limited.AcquireLimited(ctx, name, limit)
}

// TestLimitsExplored checks that every acquire of an exploration states a limit: the number of slots.
func TestLimitsExplored(t *testing.T) {
	t.Parallel()
	var limits []int
	starter := inprocess.Starter{Name: "counted", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		l, err := enginetest.Semaphore(semaphores.Counted{})(ctx, url)
		if err != nil {
			return nil, err
		}
		return stating{l.(inprocess.Limited), &limits}, nil
	}}
	res, err := gated.Explore(t.Context(), gated.ExploreConfig{Lock: gated.Lock{Starter: starter, Kind: lock.Semaphore}, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}, Executions: 20})
	if err != nil {
		t.Fatal(err)
	}
	if r := res.Report.Result(property.LimitRespected); r == nil || r.Checked == 0 || r.Violation != nil {
		t.Errorf("limit-respected: %+v", r)
	}
	if slices.Contains(limits, 0) || !slices.Contains(limits, 1) {
		t.Errorf("limits that were stated: %v", limits)
	}
}
