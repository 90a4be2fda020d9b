package search

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestPinned compares the results of searches of small random configurations with a file: counts, violations, cycles,
// coverage, and some counterexamples. It covers each kind of storage, each reduction, resumed searches, and random
// walks.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for seed := range uint64(20) {
		f.Block(fmt.Sprintf("searches %d", seed), 12, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			b := randomBounds(r)
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			s.Count(b.Target.Kind.String())
			o := randomOptions(r)
			s.Rowf("%d: %s, clients %d, %s", i, b.Target.Name, len(b.Clients), b.Faults)
			x := Run(searchtest.NewCountdown(most), b, o) // bounded, since some have many states
			tellResult(s, x)
			if r.IntN(3) == 0 {
				interrupted(t, s, b, o, r)
			}
			paths, n := Counterexamples(searchtest.NewCountdown(most), b, o.Reductions, x.Found|b.Properties&(1<<property.Linearizable), func([]scenario.Action) bool { return r.IntN(2) == 0 })
			s.Printf("%d", n)
			if i%4 == 1 {
				tellStates(s, b, o.Reductions, x.Found)
			}
			tell := s.Printf
			if i == 0 {
				tell = s.Rowf
			}
			for _, p := range slices.Sorted(maps.Keys(paths)) {
				tell("  %s: %v", named(p), paths[p])
				if i%4 == 0 && p != property.Linearizable { // Shorter cannot judge linearizability
					s.Printf("%v, ", Shorter(context.Background(), b, p, len(paths[p]), 2000))
				}
			}
			tellWalks(s, b, r)
		})
	}
	for seed := range uint64(4) {
		f.Block(fmt.Sprintf("choices %d", seed), 12, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(200+seed, uint64(i)))
			b := randomChoices(r)
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			o := randomOptions(r)
			o.Reductions.Local, o.Depth = true, 0
			x := Run(searchtest.NewCountdown(most), b, o)
			s.Rowf("%d:", i)
			tellResult(s, x)
			tellStates(s, b, o.Reductions, b.Properties)
		})
	}
	f.Compare("testdata/pinned.txt")
}

// tellStates writes the number of states that a search for counterexamples visits.
func tellStates(s *pinned.Seen, b sim.Bounds, red Reductions, want property.Set) {
	c := newCounterexampleSearch(b, red, want, func([]scenario.Action) bool { return false }, false)
	c.most = 3000
	c.run(context.Background())
	s.Rowf("  search for counterexamples: %d states, %d at the last level, %d judged", len(c.links), len(c.level), c.judged)
}

// randomChoices draws bounds of clients that choose at random where a scan restarts and how long a retry waits.
func randomChoices(r *rand.Rand) sim.Bounds {
	b := randomBounds(r)
	b.Target = amqplock.References[0]
	b.Locks[0].Slots = uint8(1 + r.IntN(2))
	b.Clients = nil
	for range 2 + r.IntN(2) {
		b.Clients = append(b.Clients, scenario.Client{Ops: user[:1]})
	}
	o := amqplock.Table.Of(amqplock.DefaultOptions())
	o.Restart, o.Jitter, o.Retries = amqplock.RestartRandom, r.IntN(2), 1+r.IntN(2)
	b.Options, b.Own = b.Target.Settled(amqplock.Table.Options(o)), nil
	if b.Properties = property.Applicable(b.Target.Kind); r.IntN(4) > 0 {
		b.Faults = sim.FaultBounds{}
	}
	return b
}

// most is the number of times that a search may check its context before the context ends.
const most = 40

// randomBounds draws bounds with few states: short workloads and at most two kinds of faults.
func randomBounds(r *rand.Rand) sim.Bounds {
	targets := slices.Concat(amqplock.References, amqplock.References, amqplock.References, mutant.All)
	b := standard(0, 0, 0, 1+r.IntN(2), 0)
	b.Target = targets[r.IntN(len(targets))]
	if b.Target.Kind != lock.Semaphore {
		b.Locks[0].Slots = uint8(r.IntN(2))
	}
	if b.Target.Kind == lock.Mutex {
		b.Locks[0].Slots = 0
	}
	for range 1 + r.IntN(2) {
		b.Clients = append(b.Clients, scenario.Client{Ops: user[:1+r.IntN(3)]})
	}
	if r.IntN(3) == 0 {
		b.Clients[len(b.Clients)-1].Ops = b.Clients[0].Ops // two clients with the same workload
	}
	if b.Target.Kind != lock.Mutex && r.IntN(3) == 0 {
		most := uint8(1)
		ops := []scenario.Operation{op(lock.Remove, most), op(lock.Add, most), op(lock.Count, 0), op(lock.Wait, 1), op(lock.Destroy, 0), op(lock.Create, most)}
		b.Clients[len(b.Clients)-1].Ops = []scenario.Operation{ops[r.IntN(len(ops))], ops[r.IntN(len(ops))]}[:1+r.IntN(2)]
	}
	randomFaults(&b, r)
	o := amqplock.Table.Of(b.Options)
	switch r.IntN(12) {
	case 0:
		o.Connection = amqplock.SharedConnection
	case 1:
		o.Restart = amqplock.RestartRandom
	case 2:
		o.Jitter = 1
	case 3:
		o.VerifyFirst = false
	case 4:
		o.Confirm = amqplock.Transactions
	case 5:
		o.Existence = amqplock.ByPassive
	case 6:
		o.AdminMutex = false
	}
	o.Retries, o.AdminRetries, o.Polls, o.Pipeline = r.IntN(2), r.IntN(2), r.IntN(2), r.IntN(3)
	b.Options = amqplock.Table.Options(o)
	if b.Options = b.Target.Settled(b.Options); b.Options.Check() != nil {
		b.Options = b.Target.Settled(amqplock.DefaultOptions())
	}
	b.Properties = property.Applicable(b.Target.Kind)
	switch r.IntN(6) {
	case 0, 1:
		b.Properties &= property.Set(r.Uint32())
	case 2: // few properties, so that the monitor stores little about the past
		var few property.Set
		for range 2 {
			few = few.With(property.Property(r.IntN(int(property.Count))))
		}
		b.Properties &= few
	}
	b.FailedAcquire = property.FailedAcquire(r.IntN(2))
	if r.IntN(5) == 0 {
		b.Own = someOwn()
		b.Properties |= b.Own.All()
	}
	b.Forever = r.IntN(6) == 0
	b.Every = r.IntN(8) == 0
	return b
}

// someOwn returns custom properties. Some are violated sooner or later, one never is, and one reads the history, which
// a state does not have.
func someOwn() own.List {
	believers := func(v own.View) (n int) {
		for _, c := range v.Clients {
			if c.Believes > 0 {
				n++
			}
		}
		return n
	}
	return own.List{
		{Name: "nobody-believes", Look: func(v own.View) (bool, string) { return believers(v) > 0, "somebody does" }},
		{Name: "two-believe", Sometimes: true, Look: func(v own.View) (bool, string) { return believers(v) > 1, "" }},
		{Name: "slots-stay", Look: func(v own.View) (bool, string) { return len(v.Locks[0].Slots) == 0, "there are none" }},
		{Name: "seen-before", Look: func(v own.View) (bool, string) { return len(v.Events()) > 4, "" }},
		{Name: "first-busy", Look: func(v own.View) (bool, string) {
			return v.Clients[0].Operation == "verify" && v.Clients[0].Alive, "it is"
		}},
		{Name: "never", Look: func(own.View) (bool, string) { return false, "" }},
	}
}

func randomFaults(b *sim.Bounds, r *rand.Rand) {
	f := &b.Faults
	for range r.IntN(3) {
		n := []*int{&f.Crashes, &f.Drops, &f.ChannelErrors, &f.Lost, &f.Restarts}[r.IntN(5)]
		if *n = 1; r.IntN(6) == 0 {
			*n = sim.AnyNumber
		}
	}
	f.Late, f.CleanCrashes = r.IntN(3) == 0, r.IntN(4) == 0
}

func randomOptions(r *rand.Rand) Options {
	o := Options{
		Reductions: Reductions{Symmetry: r.IntN(2) == 0, Order: r.IntN(2) == 0, Local: r.IntN(2) == 0},
		Workers:    1, Storage: Storage(r.IntN(3)), Array: 1 << 16, Depth: 8 + r.IntN(10), First: r.IntN(5) == 0,
	}
	if r.IntN(3) == 0 {
		o.Hashes = 1 + r.IntN(4)
	}
	return o
}

// interrupted interrupts a search repeatedly, resumes it from its checkpoints, and writes the result of each part.
func interrupted(t *testing.T, s *pinned.Seen, b sim.Bounds, o Options, r *rand.Rand) {
	o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	x := Run(searchtest.NewCountdown(r.IntN(8)), b, o)
	for o.Resume = o.Checkpoint; x.Stop == Interrupted && x.Err == nil; {
		s.Count("interrupted")
		tellResult(s, x)
		x = Run(searchtest.NewCountdown(10+r.IntN(20)), b, o)
	}
	tellResult(s, x)
}

// named returns the name of a property, or the number of a property of [someOwn].
func named(p property.Property) string {
	if p < property.Count {
		return p.String()
	}
	return fmt.Sprintf("own property %d", p-property.Count)
}

var stops = [...]string{"finished", "at depth", "at memory", "at violation", "stopped", "refused"}

func tellResult(s *pinned.Seen, x *Result) {
	s.Count(stops[x.Stop])
	row := fmt.Sprintf("  %s: %d states, %d transitions, %d final, %d levels, at most %d wide", stops[x.Stop], x.States, x.Transitions, x.Final, x.Depth, x.Widest)
	if x.Unwitnessed > 0 {
		row += fmt.Sprintf(", %d unwitnessed", x.Unwitnessed)
	}
	for p := range property.Property(len(x.At)) {
		if x.Found.Has(p) {
			row += fmt.Sprintf("; %s at %d", named(p), x.At[p])
		}
	}
	s.Rowf("%s", row)
	s.Printf("%d %d %d %v %v %s %s", x.Expanded, x.Queue, x.Parts, x.Operations, x.Reductions, x.Cycles, x.Certainty)
	if x.Livelock != nil {
		s.Count("livelock")
		s.Rowf("  livelock: %v, then %v", x.Livelock.Prefix, x.Livelock.Cycle)
	}
	if x.Found != 0 {
		s.Count("violated")
	}
	tellCoverage(s, &x.Coverage)
}

// tellCoverage writes the coverage c.
func tellCoverage(s *pinned.Seen, c *Coverage) {
	covered := c.Plain()
	s.Printf("%b", covered.Exercised)
	for _, e := range covered.Results {
		s.Printf("%s %d %v %s,", e.Op, e.Result, e.Held, e.Reason)
	}
	for _, a := range covered.Replies {
		s.Printf("%s %d %d %d,", a.Op, a.Method, a.Answer, a.Result)
	}
	for kind, taken := range covered.Actions {
		if taken {
			s.Printf("%s,", scenario.ActionKind(kind))
		}
	}
	for _, slots := range slices.Sorted(maps.Keys(c.Ends)) {
		s.Printf("%b,", slots)
	}
}

func tellWalks(s *pinned.Seen, b sim.Bounds, r *rand.Rand) {
	o := WalkOptions{Seed: r.Uint64(), Walks: 1 + r.IntN(20), Steps: 10 + r.IntN(60), Workers: 1}
	if r.IntN(2) == 0 {
		o.Illegal = func(actions []scenario.Action) bool { return len(actions)%3 == 0 }
	}
	w := Walk(context.Background(), b, o)
	s.Printf("%d walks, %d steps, %d, %d, %d states, %d, %d, found %b", w.Walks, w.Steps, w.Longest, w.Cut, w.States, w.Unwitnessed, w.Judged, w.Found)
	for _, p := range slices.Sorted(maps.Keys(w.First)) {
		s.Printf("%s: %v\n", p, w.First[p])
	}
	tellCoverage(s, &w.Coverage)
}
