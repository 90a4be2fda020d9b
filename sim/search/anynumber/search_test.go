package anynumber

import (
	"context"
	"errors"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// standard returns the configuration of most tests: administrators, and any number of clients that acquire, verify and
// release.
func standard(slots, admins int, props property.Set, late bool) Bounds {
	b := Bounds{Bounds: sim.Bounds{
		Target: amqplock.References[0], Options: amqplock.DefaultOptions(),
		Locks:      []scenario.Lock{{Name: "jobs", Slots: uint8(slots)}},
		Faults:     sim.FaultBounds{Crashes: sim.AnyNumber, Late: late},
		Properties: props,
	}}
	for range admins {
		b.Clients = append(b.Clients, scenario.Client{Ops: []scenario.Operation{{Op: lock.Remove, Arg: 1}, {Op: lock.Add, Arg: 1}}})
	}
	b.Any = []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}}}
	return b
}

// closing returns the reason why a search ends that visits everything. It is AtSlots if the number of slots can exceed
// every bound: with any number of administrators that add slots, or with faults that let a removal fail.
func closing(b *Bounds) search.Stop {
	all := b.Any
	if f := b.Faults; f.Drops != 0 || f.Lost != 0 || f.ChannelErrors != 0 || f.Restarts != 0 {
		all = slices.Concat(b.Any, b.Clients)
	}
	for _, c := range all {
		if slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool { return o.Op == lock.Add }) {
			return search.AtSlots
		}
	}
	return search.Finished
}

// TestMostSlots: a search that does not follow steps beyond its bound of slots reports it, also after it is resumed.
// The default bound covers one pass through each administrator's operations.
func TestMostSlots(t *testing.T) {
	add := func(n uint8) scenario.Operation { return scenario.Operation{Op: lock.Add, Arg: n} }
	remove := scenario.Operation{Op: lock.Remove, Arg: 1}
	for _, c := range []struct {
		slots, bound int
		admin        []scenario.Operation
		most         int
		stop         search.Stop
	}{
		{1, 0, []scenario.Operation{add(2)}, 3, search.AtSlots},
		{1, 1, []scenario.Operation{add(2)}, 1, search.AtSlots},
		{1, 0, []scenario.Operation{remove, add(1)}, 1, search.Finished},
		{1, 0, []scenario.Operation{add(1), remove}, 2, search.Finished},
		{1, 1, []scenario.Operation{add(1), remove}, 1, search.AtSlots},
		{2, 0, []scenario.Operation{{Op: lock.Destroy}, {Op: lock.Create, Arg: 3}}, 3, search.Finished},
		{9, 0, []scenario.Operation{add(2)}, 10, search.AtSlots},
	} {
		b := standard(c.slots, 1, 1<<property.AdminExclusion, false)
		b.Faults.Crashes = 0
		b.Any[0].Ops = b.Any[0].Ops[:1]
		b.Slots, b.Clients[0].Ops = c.bound, c.admin
		if most := b.MostSlots(); most != c.most {
			t.Errorf("%+v: at most %d slots", c, most)
		}
		if c.slots > 2 {
			continue // too many contexts to search
		}
		path := filepath.Join(t.TempDir(), "checkpoint")
		r := Run(t.Context(), b, Options{Every: time.Nanosecond, Checkpoint: path})
		if again := Run(t.Context(), b, Options{Resume: path}); r.Stop != c.stop || again.Stop != c.stop {
			t.Errorf("%+v: stopped %d, resumed %d, %v", c, r.Stop, again.Stop, again.Err)
		}
	}
}

// TestCounts compares the numbers of contexts, views and parts with fixed numbers, so that a search that visits fewer
// fails.
func TestCounts(t *testing.T) {
	mutex, all := property.Set(1<<property.MutualExclusion), property.Applicable(lock.Semaphore)
	for _, c := range []struct {
		slots, admins          int
		props                  property.Set
		late, whole            bool
		contexts, Views, Table int
		steps                  int64
		rounds, holders        int
		solo                   int
	}{
		{1, 0, all, false, false, 3, 127, 50, 9, 36, 1, 9},
		{1, 0, all, false, true, 7, 287, 50, 23, 37, 1, 9},
		{1, 1, mutex, true, false, 32, 2024, 84, 192, 39, 3, 0},
		{1, 1, mutex, true, true, 208, 12490, 84, 1072, 62, 3, 0},
		{2, 1, mutex, false, false, 54, 4446, 106, 378, 39, 3, 0},
		{1, 1, all, false, false, 49, 9602, 402, 273, 74, 2, 9},
		{1, sim.AnyNumber, 1 << property.ContiguousSlots, true, false, 42, 5782, 233, 264, 45, 2, 0},
		{1, sim.AnyNumber, 1 << property.Progress, true, false, 12, 2563, 395, 74, 40, 2, 9},
	} {
		b := standard(c.slots, max(0, c.admins), c.props, c.late)
		if c.admins == sim.AnyNumber {
			b = manyAdmins(c.props)
		}
		b.Whole = c.whole
		r := Run(context.Background(), b, Options{})
		if r.Stop != closing(&b) || r.Err != nil || r.Found != 0 {
			t.Errorf("%+v: stopped %d, %v, found %b", c, r.Stop, r.Err, r.Found)
		}
		if r.Contexts != int64(c.contexts) || r.Views != int64(c.Views) || r.Parts[1] != c.Table {
			t.Errorf("%+v: %d contexts, %d views, %d parts", c, r.Contexts, r.Views, r.Parts[1])
		}
		if r.Steps != c.steps || r.Rounds != c.rounds || r.Holders != c.holders || r.Solo.Steps != c.solo || r.Solo.Known != c.props.Has(property.Progress) {
			t.Errorf("%+v: %d steps, %d rounds, %d holders, alone %+v", c, r.Steps, r.Rounds, r.Holders, r.Solo)
		}
	}
}

// TestWorkers: the result of a search, and its early end, do not depend on the number of workers.
func TestWorkers(t *testing.T) {
	crowd := standard(3, 0, 1<<property.MutualExclusion, false)
	crowd.Target = mutant.Named("holder-shared")
	broken := standard(1, 0, 1<<property.MutualExclusion, false)
	broken.Target = mutant.Named("locked-is-success")
	for name, c := range map[string]struct {
		Bounds
		Options
		search.Stop
	}{
		"closed":                    {standard(1, 1, 1<<property.Progress, true), Options{}, search.Finished},
		"first violation":           {broken, Options{First: true}, search.AtViolation},
		"out of memory":             {standard(2, 1, 1<<property.ContiguousSlots, false), Options{Memory: 250_000}, search.AtMemory},
		"more holders than a world": {crowd, Options{}, search.AtHolders},
	} {
		t.Run(name, func(t *testing.T) {
			var want *Result
			for _, workers := range []int{1, 2, 4} {
				c.Workers = workers
				r := Run(t.Context(), c.Bounds, c.Options)
				if r.Stop != c.Stop {
					t.Fatalf("%d workers: stopped %d, %v, after %+v", workers, r.Stop, r.Err, r.Stats)
				}
				if want == nil {
					want = r
				}
				if r.Stats != want.Stats || r.Found != want.Found || r.Solo != want.Solo {
					t.Errorf("%d workers: %+v, found %b, %+v\none: %+v, %b, %+v", workers, r.Stats, r.Found, r.Solo, want.Stats, want.Found, want.Solo)
				}
			}
		})
	}
}

// manyAdmins returns a configuration with any number of administrators besides any number of users.
func manyAdmins(props property.Set) Bounds {
	b := standard(1, 1, props, true)
	b.Faults.Crashes = 0
	b.Any = append(b.Any, b.Clients[0])
	b.Clients = nil
	return b
}

// TestDependencies: if views or effects leave out something that matters, the search ends as unsound and proves
// nothing.
func TestDependencies(t *testing.T) {
	for name, c := range map[string]struct {
		Bounds
		blind func(*exploration)
		want  string
	}{
		"nothing is seen": {standard(2, 0, 1<<property.MutualExclusion, false), func(s *exploration) {
			s.viewOf, s.thorough = func(*sim.System, int) []byte { return nil }, true
		}, "another client"},
		"who administers is not seen": {manyAdmins(1 << property.ContiguousSlots), func(s *exploration) {
			s.viewOf = func(sys *sim.System, n int) []byte {
				view := sys.View(n, nil)
				view[0] = 0
				return view
			}
		}, "comes to something else"},
		"nothing is told": {manyAdmins(1 << property.NoPhantomSlot), func(s *exploration) {
			s.effectOf = func(sim.Effect) sim.Effect { return sim.Effect{} }
		}, "depends on more than is to be seen of it"},
		"what became of slots is not told": {manyAdmins(1 << property.NoPhantomSlot), func(s *exploration) {
			s.effectOf = func(e sim.Effect) sim.Effect {
				e.Before.Exists, e.After.Exists = e.Before.Taken, e.After.Taken
				e.Method, e.Key, e.Answer = 0, 0, 0
				clear(e.Passed[:])
				return e
			}
		}, "depends on more than is to be seen of it"},
		"a claim that a crash undoes is not told": {standard(1, 0, 1<<property.Progress, false), func(s *exploration) {
			s.effectOf = func(e sim.Effect) sim.Effect {
				clear(e.Passed[:])
				return e.Kept(s.bounds.Properties)
			}
			s.thorough = true
		}, "depends on more than is to be seen of it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newExploration(t.Context(), c.Bounds, Options{})
			if r := s.run(); r.Stop != closing(&c.Bounds) {
				t.Fatalf("nothing is hidden: stopped %d, %v", r.Stop, r.Err)
			}
			s = newExploration(t.Context(), c.Bounds, Options{})
			c.blind(s)
			if r := s.run(); r.Stop != search.Unsound || !strings.Contains(r.Err.Error(), c.want) {
				t.Errorf("stopped %d, %v, after %+v", r.Stop, r.Err, r.Stats)
			}
		})
	}
}

// TestKept: a search finds the same views whether its effects have all that an action shows, or only what is kept for
// the properties.
func TestKept(t *testing.T) {
	several := property.Set(1<<property.Progress | 1<<property.AdminExclusion | 1<<property.Linearizable | 1<<property.CrashFrees)
	restarted := standard(1, 1, 0, false)
	restarted.Faults.Restarts = sim.AnyNumber
	for name, b := range map[string]Bounds{"one administrator": standard(1, 1, 0, false), "any administrators": manyAdmins(0), "restarts": restarted} {
		for p := range property.Count {
			if b.Properties = 1 << p; !property.Applicable(lock.Semaphore).Has(p) || name != "one administrator" && !several.Has(p) {
				continue
			}
			kept := newExploration(t.Context(), b, Options{}).run()
			whole := newExploration(t.Context(), b, Options{})
			whole.effectOf = func(e sim.Effect) sim.Effect { return e }
			all := whole.run()
			if kept.Stop != all.Stop || kept.Found != all.Found || kept.Views != all.Views || kept.Contexts != all.Contexts || kept.Parts != all.Parts {
				t.Errorf("%s, %s: %+v, %v\nwith whole effects: %+v, %v", name, p, kept.Stats, kept.Err, all.Stats, all.Err)
			}
			if kept.Steps > all.Steps {
				t.Errorf("%s, %s: %d steps, with whole effects %d", name, p, kept.Steps, all.Steps)
			}
		}
	}
}

// TestThorough: each move has the same effect on every other client, and does not depend on two idle clients at once.
func TestThorough(t *testing.T) {
	for p := range property.Count {
		if testing.Short() && p != property.Progress && p != property.ContiguousSlots {
			continue
		}
		s := newExploration(t.Context(), manyAdmins(1<<p), Options{})
		s.thorough = true
		if r := s.run(); r.Stop != search.AtSlots {
			t.Errorf("%s: stopped %d, %v", p, r.Stop, r.Err)
		}
	}
}

// TestCovers: the search has reached the views of every state that real clients reach.
func TestCovers(t *testing.T) {
	all := property.Applicable(lock.Semaphore)
	broken := standard(1, 0, 1<<property.MutualExclusion|1<<property.HonestVerify|1<<property.StaleBeliefEnds, true)
	broken.Faults.Drops, broken.Faults.Lost, broken.Faults.ChannelErrors = sim.AnyNumber, sim.AnyNumber, sim.AnyNumber
	restarted := standard(1, 1, 1<<property.MutualExclusion|1<<property.SurvivesRestart, true)
	restarted.Faults.Restarts = sim.AnyNumber
	for _, c := range []struct {
		Bounds
		clients int
	}{
		{standard(1, 0, all, true), 3},
		{standard(1, 1, 1<<property.MutualExclusion, true), 2},
		{broken, 2},
		{restarted, 2},
	} {
		if testing.Short() && c.Faults.Drops|c.Faults.Restarts != 0 {
			continue // the configuration has hundreds of thousands of states
		}
		r := Run(context.Background(), c.Bounds, Options{})
		if r.Stop != closing(&c.Bounds) {
			t.Fatalf("stopped %d: %v", r.Stop, r.Err)
		}
		covered, missed := r.covers(c.clients, 200_000)
		t.Logf("%d clients: %d states, %d not covered", c.clients, covered, missed)
		if missed > 0 || covered == 0 {
			t.Errorf("%d clients: %d of %d states are not covered", c.clients, missed, covered)
		}
	}
}

// covers visits at most most states of the given number of real clients. It counts them, and those among them with a
// view that the search has not reached (missed).
func (r *Result) covers(clients, most int) (states, missed int) {
	p := projection{exploration: r.search, each: clients}
	search.Guided{Most: most, Within: func(world *sim.System) bool {
		if bits.OnesCount16(world.Slots()) > p.slots {
			return false
		}
		states++
		if g, parts := p.project(world); g == nil || slices.ContainsFunc(parts, func(part uint32) bool { return !g.seen.Has(part) }) {
			missed++
		}
		return true
	}}.Run(context.Background(), r.Bounds(clients), ^property.Set(0), func([]scenario.Action) bool { return false })
	return states, missed
}

// TestCutoff: two real clients reach all views, and one does not. If the bound of states is too small, no cutoff is
// found.
func TestCutoff(t *testing.T) {
	r := Run(t.Context(), standard(1, 1, 1<<property.MutualExclusion, true), Options{})
	if c := r.Cutoff(t.Context(), 3, 100_000); c != (Cutoff{Clients: 2, Tried: 2, Reached: r.Views}) {
		t.Errorf("%+v of %d views", c, r.Views)
	}
	if c := r.Cutoff(t.Context(), 1, 100_000); c.Clients != 0 || c.Tried != 1 || c.Reached >= r.Views {
		t.Errorf("one client: %+v of %d views", c, r.Views)
	}
	if c := r.Cutoff(t.Context(), 3, 100); c.Clients != 0 || c.Reached == 0 || c.Reached >= r.Views {
		t.Errorf("few states: %+v of %d views", c, r.Views)
	}
}

// TestFirstError: the reported error does not depend on the order in which the errors occur.
func TestFirstError(t *testing.T) {
	a, b, again := errors.New("a"), errors.New("b"), errors.New("a")
	for _, c := range []struct{ x, y, want error }{
		{nil, nil, nil}, {a, nil, a}, {nil, a, a}, {a, b, a}, {b, a, a}, {a, again, a}, {again, a, again},
	} {
		if got := firstError(c.x, c.y); got != c.want {
			t.Errorf("of %v and %v it is %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

// TestProgress: a search calls Progress at its end, and earlier only if the interval since the last call has passed.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		before time.Duration
		often  bool
	}{"it was told an hour ago": {time.Hour, true}, "it was told just now": {-time.Hour, false}} {
		told := 0
		var last Stats
		s := newExploration(t.Context(), standard(1, 0, 1<<property.MutualExclusion, false), Options{Progress: func(s *Stats) {
			told++
			last = *s
		}})
		s.told = time.Now().Add(-c.before)
		if r := s.run(); last != r.Stats || (told > 1) != c.often {
			t.Errorf("%s: told %d times, of %+v at last, where it is %+v", name, told, last, r.Stats)
		}
	}
}

// TestSoloEndless: a client that waits forever while no other client acts violates the property progress.
func TestSoloEndless(t *testing.T) {
	for target, endless := range map[string]bool{"wait-forever": true, "semaphore": false} {
		b := standard(1, 0, 1<<property.Progress, false)
		b.Faults.Crashes = 0
		b.Any = append(b.Any, scenario.Client{Ops: []scenario.Operation{{Op: lock.Wait, Arg: 1}}})
		if endless {
			b.Target = mutant.Named(target)
		}
		r := Run(t.Context(), b, Options{})
		if want := (Solo{Known: true, Steps: 9, Endless: endless}); r.Stop != search.Finished || r.Solo != want || r.Found.Has(property.Progress) != endless {
			t.Errorf("%s: stopped %d, %v, found %b, alone %+v, want %+v", target, r.Stop, r.Err, r.Found, r.Solo, want)
		}
	}
}

// TestCheck: Check refuses configurations that cannot be searched for any number of clients, and says why.
func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Bounds){
		"":                                       func(*Bounds) {},
		"no client of which there is any number": func(b *Bounds) { b.Clients, b.Any = append(b.Clients, b.Any...), nil },
		"no client stands for the others":        func(b *Bounds) { b.Named, b.Clients = true, nil },
		"clients share a connection": func(b *Bounds) {
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })
		},
		"more than one lock":                           func(b *Bounds) { b.Locks = append(b.Locks, scenario.Lock{Name: "mails", Slots: 1}) },
		"11 slots: expected at most 10":                func(b *Bounds) { b.Locks[0].Slots = 11 },
		"9 clients: expected 1 to 8":                   func(b *Bounds) { b.Any = slices.Repeat(b.Any, 8) },
		"client 2 calls 0 operations: expected 1 to 2": func(b *Bounds) { b.Any[0].Ops = nil },
	} {
		b := standard(1, 1, 1<<property.MutualExclusion, false)
		change(&b)
		if err := b.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	b := standard(1, 1, 1<<property.MutualExclusion, false)
	if b.Named = true; b.Check() != nil {
		t.Error(b.Check())
	}
}

// TestWorkersByDefault: a search has as many workers as GOMAXPROCS, and leaves GOMAXPROCS unchanged.
func TestWorkersByDefault(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s := newExploration(context.Background(), standard(1, 0, 1<<property.MutualExclusion, false), Options{})
	if n := runtime.GOMAXPROCS(0); n != 3 || len(s.workers) != 3 {
		t.Errorf("%d workers, and %d processors afterwards", len(s.workers), n)
	}
}

// TestCheckpointsDue: a checkpoint is due if there is a file and an interval, and the interval has passed.
func TestCheckpointsDue(t *testing.T) {
	for _, c := range []struct {
		o     Options
		since time.Duration
		want  bool
	}{
		{Options{Checkpoint: "a", Every: time.Hour}, 2 * time.Hour, true}, {Options{Checkpoint: "a", Every: time.Hour}, 0, false},
		{Options{Every: time.Hour}, 2 * time.Hour, false}, {Options{Checkpoint: "a"}, 2 * time.Hour, false},
	} {
		if got := (&exploration{opts: c.o, saved: time.Now().Add(-c.since)}).due(); got != c.want {
			t.Errorf("%+v after %v: due %v", c.o, c.since, got)
		}
	}
}
