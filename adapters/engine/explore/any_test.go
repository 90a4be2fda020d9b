package explore_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim/search"
)

// beyondAny lists the mutants that a search for any number of clients refuses, with the reason.
var beyondAny = map[string]string{
	"one-connection":           "share a connection",
	"holder-expires":           "time makes a difference",
	"slots-expire":             "time makes a difference",
	"admin-mutex-is-lock-name": "more than one lock",
	"names-run-together":       "more than one lock",
}

// TestExploreAnyMutants explores mutants with any number of clients. Each mutant's violation must be found in an
// execution of real clients, or the exploration must be refused for the reason in beyondAny.
func TestExploreAnyMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the visiting of every mutant")
	}
	for _, target := range mutant.All {
		t.Run(target.Name, func(t *testing.T) {
			if strings.HasPrefix(target.Name, "wait-") && !*whole {
				t.Skip("skipped: searches for those that wait take most of a minute each; -whole has them")
			}
			p, err := property.Named(target.Breaks)
			if err != nil {
				t.Fatal(err)
			}
			refused := ""
			for _, room := range rooms {
				e := ofAny(target, room.Exploration, p)
				if e.Clients == 0 && e.Admins == 0 {
					continue
				}
				x, err := explore.Run(t.Context(), e)
				switch {
				case err != nil && refused == "":
					refused = err.Error()
				case err != nil:
				case x.Traces[p] != nil:
					t.Logf("%s in %d steps (%s)", p, len(x.Traces[p].Steps), room.name)
					return
				}
			}
			if why := beyondAny[target.Name]; why == "" || !strings.Contains(refused, why) {
				t.Errorf("%s is not found; refused: %s", p, refused)
			}
		})
	}
}

// ofAny turns an exploration into one with any number of clients. If it has no clients, the number of administrators
// becomes unbounded instead. Each kind of fault that the exploration allows may then occur any number of times.
func ofAny(target *lock.Target, e explore.Exploration, p property.Property) explore.Exploration {
	e.Target, e.Properties, e.Rounds = target, 1<<p, 1
	e.Options = append([][2]string{{"pipeline", "0"}}, e.Options...)
	e.Search = search.Options{First: p != property.Linearizable, Workers: 1, Memory: 1 << 25}
	if target.Kind == lock.Mutex {
		e.Admins = 0
	}
	if target.Kind != lock.Semaphore {
		e.AdminCalls = nil
	}
	switch {
	case e.Clients > 0:
		e.Clients = explore.AnyNumber
	case e.Admins > 0:
		e.Admins = explore.AnyNumber
	}
	adds := func(o scenario.Operation) bool { return o.Op == lock.Add }
	if e.MostSlots = e.Slots + 1; slices.ContainsFunc(e.AdminCalls, adds) {
		e.MostSlots = e.Slots + 2
	}
	for _, n := range []*int{&e.Faults.Crashes, &e.Faults.Drops, &e.Faults.ChannelErrors, &e.Faults.Lost, &e.Faults.Restarts} {
		if *n > 0 {
			*n = explore.AnyNumber
		}
	}
	return e
}

// TestExploreAny checks that the report does not depend on the number of workers. It must state the cut-off, unless the
// search ended early.
func TestExploreAny(t *testing.T) {
	for name, c := range map[string]struct {
		e       explore.Exploration
		cutoff  int
		verdict report.Verdict
	}{
		"closed": {explore.Exploration{Workload: explore.Workload{Slots: 1}, Judging: engine.Judging{Properties: 1 << property.MutualExclusion}}, 2, report.Proved},
		"early":  {explore.Exploration{Workload: explore.Workload{Slots: 1, Admins: 1}, Judging: engine.Judging{Properties: 1 << property.Progress}, Search: search.Options{Memory: 50_000}}, 0, report.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			var want *report.Report
			for _, workers := range []int{1, 2, 4} {
				e := c.e
				e.Clients, e.Faults.Crashes, e.Search.Workers = explore.AnyNumber, explore.AnyNumber, workers
				x, err := explore.Run(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				r := x.Report
				if verdict, _ := r.Verdict(&r.Properties[0]); verdict != c.verdict || r.Views.Cutoff != c.cutoff {
					t.Errorf("%s, cut-off %d, after %+v", verdict, r.Views.Cutoff, *r.Views)
				}
				if r.Elapsed = 0; want == nil {
					want = r
				}
				if !reflect.DeepEqual(r, want) {
					t.Errorf("%d workers: %+v\n%+v\none: %+v\n%+v", workers, *r, *r.Views, *want, *want.Views)
				}
			}
		})
	}
}

// TestExploreAnySlots checks slots that an administrator adds. Either the search follows them, or nothing is proved.
// The report must state the bound on slots, the administrators' calls, and the options.
func TestExploreAnySlots(t *testing.T) {
	for most, want := range map[int]struct {
		verdict report.Verdict
		bounds  string
		why     string
	}{
		0: {report.Violated, "1 slot, at most 3 slots at once, no faults (administrators call add:2)", "c1: slot 1: there is a hole"},
		1: {report.Undecided, "1 slot, at most 1 slot at once, no faults (administrators call add:2)", "administrators make more than 1 slot at once, which was not followed; --most-slots sets the bound"},
	} {
		e := explore.Exploration{
			Workload: explore.Workload{Clients: explore.AnyNumber, Slots: 1, Admins: 1, AdminCalls: []scenario.Operation{{Op: lock.Add, Arg: 2}}}, MostSlots: most,
			Options: [][2]string{{"add-reading", "literal"}}, Judging: engine.Judging{Properties: 1 << property.ContiguousSlots},
		}
		x, err := explore.Run(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		r := x.Report
		verdict, why := r.Verdict(&r.Properties[0])
		if verdict == report.Violated {
			why = r.Properties[0].Violation.Detail
		}
		if verdict != want.verdict || why != want.why || !strings.HasSuffix(r.Bounds, want.bounds) || !slices.Equal(r.Fixed, []string{"add-reading=literal"}) {
			t.Errorf("at most %d: %s, %q of %q with %q", most, verdict, why, r.Bounds, r.Fixed)
		}
	}
}

// TestExploreAnyResume interrupts an exploration many times, during its searches and between them, and resumes it. The
// report must be the same as without interruption.
func TestExploreAnyResume(t *testing.T) {
	e := explore.Exploration{
		Workload: explore.Workload{Slots: 1, Admins: 1, Clients: explore.AnyNumber}, Options: [][2]string{{"pipeline", "0"}, {"verify-first", "false"}},
		Judging: engine.Judging{Properties: 1<<property.MutualExclusion | 1<<property.RemovalDrains | 1<<property.NoPhantomSlot},
	}
	e.Search.Workers = 1
	want, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	e.Search.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	var got *explore.Explored
	parts, looks := 0, 40 // part i is interrupted when it has checked its context 40·i times, or 200·i with -short
	if testing.Short() {
		looks = 200
	}
	for got == nil || got.Report.Interrupted {
		parts++
		if got, err = explore.Run(searchtest.NewCountdown(looks*parts), e); err != nil || got.Unsaved != nil {
			t.Fatal(err, got)
		}
		if len(got.Report.Properties) != 3 {
			t.Errorf("part %d tells of %d properties", parts, len(got.Report.Properties))
		}
		e.Search.Resume = e.Search.Checkpoint
	}
	t.Logf("%d parts", parts)
	if parts < 5 {
		t.Errorf("interrupted %d times", parts-1)
	}
	if got.Report.Elapsed, want.Report.Elapsed = 0, 0; !reflect.DeepEqual(got.Report, want.Report) {
		t.Errorf("%+v\n%+v\nwant %+v\n%+v", *got.Report, *got.Report.Views, *want.Report, *want.Report.Views)
	}
	if !reflect.DeepEqual(got.Traces[property.RemovalDrains].Steps, want.Traces[property.RemovalDrains].Steps) {
		t.Error("another counterexample")
	}
}
