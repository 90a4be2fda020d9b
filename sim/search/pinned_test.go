package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/pinned"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search/searchtest"
)

// TestPinned holds against a file what searches of small random configurations come to: numbers, levels, counterexamples,
// cycles and coverage, with every way to remember states and to leave some out, interrupted and gone on with, and walks.
func TestPinned(t *testing.T) {
	f := pinned.New(t)
	for seed := range uint64(8) {
		f.Block(fmt.Sprintf("searches %d", seed), 12, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			b := randomBounds(r)
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			s.Count(b.Target.Kind.String())
			o := randomOptions(r)
			x := Run(context.Background(), b, o)
			tellResult(s, x)
			if r.IntN(3) == 0 {
				interrupted(t, s, b, o, r)
			}
			paths, n := Counterexamples(context.Background(), b, o.Reductions, x.Found|b.Properties&(1<<property.Linearizable), func([]scenario.Action) bool { return r.IntN(2) == 0 })
			s.Printf("%d", n)
			for _, p := range slices.Sorted(maps.Keys(paths)) {
				s.Printf("%s: %v, ", p, paths[p])
				if i%4 == 0 && p != property.Linearizable { // which states do not tell
					s.Printf("%v, ", Shorter(context.Background(), b, p, len(paths[p]), 2000))
				}
			}
			tellWalks(s, b, r)
		})
	}
	f.Compare("testdata/pinned.txt", *rewrite)
}

// randomBounds are bounds with few states: short workloads, a fault or two.
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
		b.Clients[len(b.Clients)-1].Ops = b.Clients[0].Ops // alike
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
	if r.IntN(3) == 0 {
		b.Properties &= property.Set(r.Uint32())
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

// someOwn are properties of a user's own: some that are violated sooner or later, one that is not, and one that asks for
// what a state does not have.
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

// interrupted is a search in parts, each with checkpoints.
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

func tellResult(s *pinned.Seen, x *Result) {
	s.Count([]string{"finished", "at depth", "at memory", "at violation", "stopped", "refused"}[x.Stop])
	stats := x.Stats
	stats.TableBytes, stats.QueueBytes, stats.PartBytes, stats.MoveBytes = 0, 0, 0, 0 // machines differ
	s.Printf("%v, stop %d, found %b at %v, %v, cycles %s, %s\n", stats, x.Stop, x.Found, x.At[:property.Count+6], x.Reductions, x.Cycles, x.Certainty)
	if x.Livelock != nil {
		s.Count("livelock")
		s.Printf("%v, then %v\n", x.Livelock.Prefix, x.Livelock.Cycle)
	}
	if x.Found != 0 {
		s.Count("violated")
	}
	tellCoverage(s, &x.Coverage)
}

func tellCoverage(s *pinned.Seen, c *Coverage) {
	var lines []string
	for e := range c.Results {
		lines = append(lines, fmt.Sprint(e))
	}
	for a := range c.Replies {
		lines = append(lines, fmt.Sprint(a))
	}
	slices.Sort(lines)
	s.Printf("%b %v %v %s\n", c.Exercised, c.Actions, slices.Sorted(maps.Keys(c.Ends)), strings.Join(lines, ", "))
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

// TestPinnedAny holds against a file what searches for any number of clients come to: each context with the clients that
// hold something and the parts that a client can have in it, and what becomes of one that runs alone.
func TestPinnedAny(t *testing.T) {
	f := pinned.New(t)
	for seed := range uint64(5) {
		f.Block(fmt.Sprintf("any clients %d", seed), 8, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(100+seed, uint64(i)))
			b := randomAny(r)
			if err := b.Check(); err != nil {
				s.Count("not searched")
				s.Printf("%v", err)
				return
			}
			o := AnyOptions{Workers: 1, First: r.IntN(4) == 0}
			x := RunAny(searchtest.NewCountdown(200+r.IntN(400)), b, o)
			tellAny(s, x)
			if r.IntN(2) == 0 {
				o.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
				tellAny(s, RunAny(searchtest.NewCountdown(20), b, o))
				if _, err := os.Stat(o.Checkpoint); err == nil { // else it was over before there was one
					o.Resume = o.Checkpoint
					tellAny(s, RunAny(searchtest.NewCountdown(60), b, o))
				}
			}
			if x.Stop == Finished {
				s.Printf("%v", x.Cutoff(context.Background(), 2, 500))
			}
			if x.Found != 0 {
				real, all := x.Real(context.Background(), x.Found, 2, 1000, func([]scenario.Action) bool { return true })
				for _, p := range slices.Sorted(maps.Keys(real)) {
					s.Count("real")
					s.Printf("%s: %v\n", p, real[p])
				}
				s.Printf("%v", all)
			}
		})
	}
	f.Compare("testdata/pinned-any.txt", *rewrite)
}

func randomAny(r *rand.Rand) AnyBounds {
	p := property.Applicable(lock.Semaphore)
	if r.IntN(3) > 0 {
		p = 1<<property.MutualExclusion | 1<<property.Property(r.IntN(int(property.NoCrash+1)))&p
	}
	b := anyStandard(1, r.IntN(2), p, r.IntN(2) == 0)
	targets := slices.Concat(amqplock.References, amqplock.References, amqplock.References, mutant.All)
	if b.Target = targets[r.IntN(len(targets))]; b.Target.Kind != lock.Semaphore {
		b.Clients = nil
	}
	if b.Target.Kind == lock.Mutex {
		b.Locks[0].Slots = 0
	}
	b.Options = b.Target.Settled(b.Options)
	b.Properties &= property.Applicable(b.Target.Kind)
	if b.Faults.Crashes = sim.AnyNumber; r.IntN(3) == 0 {
		b.Faults.Crashes = 0
	}
	if r.IntN(4) == 0 {
		n := []*int{&b.Faults.Drops, &b.Faults.ChannelErrors, &b.Faults.Lost, &b.Faults.Restarts}[r.IntN(4)]
		*n = sim.AnyNumber
	}
	b.Any[0].Ops = b.Any[0].Ops[:1+r.IntN(3)]
	b.Whole, b.Named = r.IntN(4) == 0, r.IntN(3) == 0 && len(b.Clients) > 0
	return b
}

func tellAny(s *pinned.Seen, x *AnyResult) {
	s.Count(cmp.Or(map[Stop]string{Finished: "closed", Unsound: "unsound", AtHolders: "too many holders", AtViolation: "at violation"}[x.Stop], "stopped"))
	stats := x.AnyStats
	stats.Bytes = 0 // machines differ
	s.Printf("%v, stop %d, found %b, solo %v, %v, %v\n", stats, x.Stop, x.Found, x.Solo, x.Err, x.Unsaved)
	tellCoverage(s, &x.Coverage)
	if x.search == nil {
		return
	}
	for _, g := range x.search.contexts.list {
		s.Printf("%d: %d %d %x, %d steps, %v %v %v %x, ", g.id, g.shared, g.holders, g.seen, len(g.steps), g.looked, g.audited, g.besides, g.done)
		for i := range g.steps {
			st := &g.steps[i]
			s.Printf("%d %d %v %v %v;", st.to.id, st.by, st.all, *st.how, len(st.open))
			for _, o := range st.open {
				s.Printf("%x %v,", o.view, *o.how)
			}
		}
		c := x.search.population(g)
		s.Printf("%v %x %v\n", c.holders, c.plain, len(c.idle))
	}
}
