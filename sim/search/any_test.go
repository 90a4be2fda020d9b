package search

import (
	"context"
	"math/bits"
	"testing"

	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// anyStandard is the configuration that the search for any number of clients is tried on.
func anyStandard(slots, admins int, props spec.PropertySet, late bool) AnyBounds {
	b := AnyBounds{Bounds: sim.Bounds{
		Target: lock.References[0], Options: lock.DefaultOptions(),
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

// TestAnyCounts pins how many contexts, views and parts there are: a search that silently visits fewer must
// fail.
func TestAnyCounts(t *testing.T) {
	mutex, all := spec.PropertySet(1<<spec.MutualExclusion), spec.Applicable(lock.Semaphore)
	for _, c := range []struct {
		slots, admins          int
		props                  spec.PropertySet
		late                   bool
		contexts, views, parts int
	}{
		{1, 0, all, false, 7, 281, 50},
		{1, 1, mutex, true, 208, 12064, 84},
		{2, 1, mutex, false, 1344, 99456, 106},
		{1, 1, all, false, 632, 104640, 402},
	} {
		if testing.Short() && c.views > 50_000 {
			continue
		}
		for _, workers := range []int{1, 2} {
			r := RunAny(context.Background(), anyStandard(c.slots, c.admins, c.props, c.late), AnyOptions{Workers: workers})
			if r.Stop != Finished || r.Err != nil || r.Found != 0 {
				t.Errorf("%+v: stopped %d, %v, found %b", c, r.Stop, r.Err, r.Found)
			}
			if r.Contexts != int64(c.contexts) || r.Views != int64(c.views) || r.Parts[1] != c.parts {
				t.Errorf("%+v: %d contexts, %d views, %d parts", c, r.Contexts, r.Views, r.Parts[1])
			}
		}
	}
}

// TestAnyCovers: every state that real clients reach has its views among those of the search.
func TestAnyCovers(t *testing.T) {
	all := spec.Applicable(lock.Semaphore)
	broken := anyStandard(1, 0, 1<<spec.MutualExclusion|1<<spec.HonestVerify|1<<spec.StaleBeliefEnds, true)
	broken.Faults.Drops, broken.Faults.Lost, broken.Faults.ChannelErrors = sim.AnyNumber, sim.AnyNumber, sim.AnyNumber
	restarted := anyStandard(1, 1, 1<<spec.MutualExclusion|1<<spec.SurvivesRestart, true)
	restarted.Faults.Restarts = sim.AnyNumber
	for _, c := range []struct {
		AnyBounds
		clients int
	}{
		{anyStandard(1, 0, all, true), 3},
		{anyStandard(1, 1, 1<<spec.MutualExclusion, true), 2},
		{broken, 2},
		{restarted, 2},
	} {
		if testing.Short() && c.Faults.Drops|c.Faults.Restarts != 0 {
			continue // hundreds of thousands of states
		}
		r := RunAny(context.Background(), c.AnyBounds, AnyOptions{})
		if r.Stop != Finished {
			t.Fatalf("stopped %d: %v", r.Stop, r.Err)
		}
		covered, missed := r.covers(c.clients, 200_000)
		t.Logf("%d clients: %d states, %d not covered", c.clients, covered, missed)
		if missed > 0 || covered == 0 {
			t.Errorf("%d clients: %d of %d states are not covered", c.clients, missed, covered)
		}
	}
}

// covers counts the states of real clients, up to so many, and those that have a view which the search has not
// come to.
func (r *AnyResult) covers(clients, most int) (states, missed int) {
	s := r.search
	t := newTrail(r.Bounds(clients), Reductions{Symmetry: true}, ^spec.PropertySet(0), func([]scenario.Action) bool { return false }, false)
	t.most = most
	p := projection{anySearch: s, each: clients}
	t.within = func(state []uint32) bool {
		if t.enter(state); bits.OnesCount16(t.sys.Slots()) > s.slots {
			return false
		}
		states++
		g, watchers := p.project(t.worker, state)
		if g == nil {
			missed++
			return true
		}
		for _, w := range watchers {
			if !g.seen.has(w) {
				missed++
				break
			}
		}
		return true
	}
	t.run(context.Background())
	return states, missed
}

// TestAnyMutants: what each mutant breaks is found, in an execution of two or three real clients.
func TestAnyMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the mutants")
	}
	for _, m := range mutant.All {
		t.Run(m.Name, func(t *testing.T) {
			breaks, err := spec.PropertyNamed(m.Breaks)
			if err != nil {
				t.Fatal(err)
			}
			admins := 1
			if m.Kind != lock.Semaphore {
				admins = 0
			}
			b := anyStandard(1, admins, 1<<breaks, false)
			b.Target, b.Options = m, m.Settled(b.Options)
			r := RunAny(context.Background(), b, AnyOptions{Memory: 1 << 27, First: true})
			t.Logf("%s: stop %d, %v, found %b, %d doubted, %d contexts, %d views", m.Breaks, r.Stop, r.Err, r.Found, r.Doubted, r.Contexts, r.Views)
		})
	}
}
