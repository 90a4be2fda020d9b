package search

import (
	"context"
	"encoding/binary"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

var configurations = flag.Int("configurations", 120, "on how many random configurations the reductions are compared")

// TestReductions compares the search with a simple reference search, on small random configurations of the reference
// locks and of mutants. The reference search has no parts, memo tables, hashes or reductions. No reduction may miss a
// violation, a result of an operation, or a final set of slots.
func TestReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compared, violated, saved := 0, 0, map[Reductions]int64{}
	wanted, largest := *configurations, 6000
	if testing.Short() {
		largest = 600 // maximal number of states; many small configurations take less time than one large one
	}
	for compared < wanted {
		b := drawBounds(r)
		want, ok := plainly(b, largest)
		if !ok {
			continue // the configuration has too many states
		}
		compared++
		if want.Found != 0 {
			violated++
		}
		for _, red := range []Reductions{{}, {Symmetry: true}, {Order: true}, {Local: true}, AllReductions} {
			got := Run(context.Background(), b, Options{Reductions: red, Workers: 1})
			saved[red] += want.States - got.States
			if !maps.Equal(got.Coverage.Results, want.Coverage.Results) || !maps.Equal(got.Coverage.Ends, want.Coverage.Ends) {
				t.Errorf("configuration %d, %s, %v %+v: with %+v operations end as %v, the slots as %v; plainly %v, %v",
					compared, b.Target.Name, b.Clients, b.Faults, red, got.Coverage.Results, got.Coverage.Ends, want.Coverage.Results, want.Coverage.Ends)
			}
			if got.Found != want.Found || (got.Unwitnessed > 0) != (want.Unwitnessed > 0) {
				t.Errorf("configuration %d, %s, %v %+v: %+v finds %b, %d unwitnessed; plainly %b, %d",
					compared, b.Target.Name, b.Clients, b.Faults, red, got.Found, got.Unwitnessed, want.Found, want.Unwitnessed)
			}
			if red == (Reductions{}) && (got.States != want.States || got.Transitions != want.Transitions) {
				t.Errorf("configuration %d, %s, %v %+v: %d states and %d transitions; plainly %d and %d",
					compared, b.Target.Name, b.Clients, b.Faults, got.States, got.Transitions, want.States, want.Transitions)
			}
		}
	}
	t.Logf("%d configurations, %d of them with violations; states saved: %v", compared, violated, saved)
	for red, n := range saved {
		if red != (Reductions{}) && n <= 0 {
			t.Errorf("%+v saves no state at all", red)
		}
	}
}

// plainly is the reference search: it visits every state, and stores whole encoded states in a map. It returns false if
// there are more states than most.
func plainly(b sim.Bounds, most int) (Result, bool) {
	var r Result
	s := sim.NewSystem(b)
	n := s.Clients()
	image := func() string {
		parts := binary.AppendUvarint(nil, 0)
		for c := 0; c <= n; c++ {
			part := s.Shared(nil)
			if c > 0 {
				part = s.Client(c, nil)
			}
			parts = append(binary.AppendUvarint(parts, uint64(len(part))), part...)
		}
		return string(parts)
	}
	load := func(image string) {
		rest := []byte(image)[1:]
		var parts [][]byte
		for range n + 1 {
			size, k := binary.Uvarint(rest)
			parts = append(parts, rest[k:k+int(size)])
			rest = rest[k+int(size):]
		}
		s.Load(parts[0], parts[1:])
	}
	queue := []string{image()}
	seen := map[string]bool{queue[0]: true}
	for ; len(queue) > 0; queue = queue[1:] {
		load(queue[0])
		var actions []scenario.Action
		for c := 0; c <= n; c++ {
			actions = s.Actions(c, actions)
		}
		if len(actions) == 0 {
			r.Found |= s.Finish()
			r.Coverage.end(s.Slots())
		}
		for _, a := range actions {
			load(queue[0])
			out := s.Take(a)
			r.Transitions++
			r.Found |= out.Found
			r.Coverage.Note(a, &out)
			if out.Completed && b.Properties.Has(property.Linearizable) && !s.Witnessed() {
				r.Unwitnessed++
			}
			if next := image(); !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
		if len(seen) > most {
			return r, false
		}
	}
	r.States = int64(len(seen))
	return r, true
}

// drawBounds draws a small configuration.
func drawBounds(r *rand.Rand) sim.Bounds {
	targets := slices.Concat(amqplock.References, mutant.All)
	b := sim.Bounds{Target: targets[r.IntN(len(targets))], Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: uint8(r.IntN(3))}}}
	if r.IntN(3) == 0 {
		b.Target = amqplock.References[r.IntN(len(amqplock.References))]
	}
	o := amqplock.Table.Of(b.Options)
	o.Pipeline, o.Retries, o.AdminRetries, o.Polls, o.Overshoot = r.IntN(3), r.IntN(2), r.IntN(2), r.IntN(2), r.IntN(2)
	o.VerifyFirst, o.AdminMutex = r.IntN(4) > 0, r.IntN(4) > 0
	o.Restart = []string{amqplock.RestartFirst, amqplock.RestartStay, amqplock.RestartRandom}[r.IntN(3)]
	o.Release = []string{amqplock.DeleteB, amqplock.DeleteB, amqplock.CloseConnection, amqplock.CloseChannel}[r.IntN(4)]
	o.Existence = []string{amqplock.ByPublish, amqplock.ByPublish, amqplock.ByPassive}[r.IntN(3)]
	o.Order = []string{amqplock.Descending, amqplock.Ascending}[r.IntN(2)]
	b.Options = amqplock.Table.Options(o)
	b.Options = b.Target.Settled(b.Options)
	for n := 1 + r.IntN(3); n > 0; n-- {
		b.Clients = append(b.Clients, drawClient(r, b.Target.Kind))
	}
	if r.IntN(2) == 0 { // one more client with the workload of the first, for symmetry
		b.Clients = append(b.Clients, b.Clients[0])
	}
	f := &b.Faults
	f.Crashes, f.Late = r.IntN(2), r.IntN(2) == 0
	for range r.IntN(3) {
		switch r.IntN(5) {
		case 0:
			f.Drops = 1
		case 1:
			f.ChannelErrors = 1
		case 2:
			f.Lost = 1
		case 3:
			f.Restarts = 1
		}
	}
	b.Properties = property.Applicable(b.Target.Kind)
	switch r.IntN(6) {
	case 0, 1:
		b.Properties &= property.Set(r.Uint32())
	case 2: // the monitor stores nothing about the past
		b.Properties = 1<<property.MutualExclusion | 1<<property.MinimalDriver | 1<<property.NameSafety
	}
	return b
}

func drawClient(r *rand.Rand, k lock.Kind) (c scenario.Client) {
	ops := k.Operations()
	for n := 1 + r.IntN(3); n > 0; n-- {
		c.Ops = append(c.Ops, scenario.Operation{Op: ops[r.IntN(len(ops))], Arg: 1})
	}
	return c
}

// TestOwnUnreduced: a search for violations of a custom property uses no reduction.
func TestOwnUnreduced(t *testing.T) {
	b := standard(1, 1, 0, 1, 0)
	if got := AllReductions.For(&b); got != AllReductions {
		t.Errorf("without own properties, %+v", got)
	}
	if b.Own = someOwn()[:1]; AllReductions.For(&b) != (Reductions{}) {
		t.Errorf("with one, %+v", AllReductions.For(&b))
	}
}
