package search

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// small is a named configuration whose search takes little time.
type small struct {
	name   string
	target string
	slots  int
	change func(*sim.Bounds)
	calls  [][]scenario.Operation
}

func op(o lock.Op, arg uint8) scenario.Operation { return scenario.Operation{Op: o, Arg: arg} }

var (
	user  = []scenario.Operation{op(lock.Acquire, 0), op(lock.Verify, 0), op(lock.Release, 0)}
	taker = []scenario.Operation{op(lock.Acquire, 0)}
	admin = []scenario.Operation{op(lock.Remove, 1), op(lock.Add, 1)}
)

// smalls are configurations that together have every fault, every operation, and options with time, random choices, a
// shared connection and two locks.
var smalls = []small{
	{"two users", "semaphore", 1, nil, [][]scenario.Operation{user, user}},
	{"a crash, seen late", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Crashes, b.Faults.Late = 1, true }, [][]scenario.Operation{user, taker}},
	{"a crash, seen at once", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Crashes = 1 }, [][]scenario.Operation{user, taker}},
	{"a clean crash", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Crashes, b.Faults.CleanCrashes = 1, true }, [][]scenario.Operation{user, taker}},
	{"a drop", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Drops = 1 }, [][]scenario.Operation{user, taker}},
	{"a channel error", "semaphore", 1, func(b *sim.Bounds) { b.Faults.ChannelErrors = 1 }, [][]scenario.Operation{user, taker}},
	{"a lost reply, late", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Lost, b.Faults.Late = 1, true }, [][]scenario.Operation{user, taker}},
	{"a restart", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Restarts = 1 }, [][]scenario.Operation{user, taker}},
	{"two faults", "mutex", 1, func(b *sim.Bounds) { b.Faults.Crashes, b.Faults.Lost = 1, 1 }, [][]scenario.Operation{user, taker}},
	{"administration", "semaphore", 1, nil, [][]scenario.Operation{user, admin}},
	{"two administrators", "semaphore", 2, func(b *sim.Bounds) { b.Faults.Crashes = 1 }, [][]scenario.Operation{admin[:1], admin[1:]}},
	{"counting and waiting", "semaphore", 1, nil, [][]scenario.Operation{taker, {op(lock.Count, 0), op(lock.Remove, 1), op(lock.Wait, 1)}}},
	{"made and unmade", "persistent-mutex", 0, nil, [][]scenario.Operation{{op(lock.Create, 1), op(lock.Destroy, 0)}, user}},
	{"chance", "semaphore", 2, func(b *sim.Bounds) {
		b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Restart = amqplock.RestartRandom })
	}, [][]scenario.Operation{taker, taker}},
	{"time", "semaphore", 1, func(b *sim.Bounds) {
		b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Jitter = 2 })
	}, [][]scenario.Operation{taker, user}},
	{"one connection", "semaphore", 1, func(b *sim.Bounds) {
		b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })
	}, [][]scenario.Operation{user, taker}},
	{"one connection, and a crash", "one-connection", 1, func(b *sim.Bounds) { b.Faults.Crashes = 1 }, [][]scenario.Operation{taker, taker}},
	{"one connection, and a drop", "one-connection", 1, func(b *sim.Bounds) { b.Faults.Drops = 1 }, [][]scenario.Operation{taker, taker}},
	{"two locks", "semaphore", 1, func(b *sim.Bounds) {
		b.Locks = append(b.Locks, scenario.Lock{Name: "mails", Slots: 1})
		b.Clients[1].Lock = 1
	}, [][]scenario.Operation{taker, taker}},
	{"expiry", "holder-expires", 1, nil, [][]scenario.Operation{user, taker}},
	{"slots that expire", "slots-expire", 1, nil, [][]scenario.Operation{user}},
	{"for ever", "retries-forever", 1, nil, [][]scenario.Operation{taker, taker}},
	{"waiting for ever", "wait-forever", 1, nil, [][]scenario.Operation{taker, {op(lock.Remove, 1), op(lock.Wait, 1)}}},
	{"an unwitnessed operation", "first-slot-only", 2, nil, [][]scenario.Operation{taker, taker}},
	{"closing the channel", "release-closes-channel", 1, nil, [][]scenario.Operation{user, taker}},
	{"transactions", "semaphore", 1, func(b *sim.Bounds) {
		b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Confirm = amqplock.Transactions })
	}, [][]scenario.Operation{user, taker}},
	{"passive declares, in a row", "semaphore", 2, func(b *sim.Bounds) {
		b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Existence, o.Pipeline = amqplock.ByPassive, 2 })
	}, [][]scenario.Operation{taker, taker}},
	{"strong failed acquires", "semaphore", 2, func(b *sim.Bounds) { b.FailedAcquire = property.Strong }, [][]scenario.Operation{user, user, taker}},
	{"three alike", "mutex", 1, nil, [][]scenario.Operation{taker, taker, taker}},
	{"a drop and a channel error", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Drops, b.Faults.ChannelErrors = 1, 1 }, [][]scenario.Operation{user, taker}},
	{"a drop and a lost reply, late", "mutex", 0, func(b *sim.Bounds) { b.Faults.Drops, b.Faults.Lost, b.Faults.Late = 1, 1, true }, [][]scenario.Operation{user}},
	{"a crash and a restart", "mutex", 0, func(b *sim.Bounds) { b.Faults.Crashes, b.Faults.Restarts, b.Faults.Late = 1, 1, true }, [][]scenario.Operation{user, taker}},
	{"every way to die", "mutex", 0, func(b *sim.Bounds) { b.Faults.Crashes, b.Faults.Late, b.Every = 1, true, true }, [][]scenario.Operation{user, taker}},
	{"drops without a bound", "mutex", 0, func(b *sim.Bounds) { b.Faults.Drops = sim.AnyNumber }, [][]scenario.Operation{user, taker}},
	{"lost replies without a bound", "mutex", 0, func(b *sim.Bounds) { b.Faults.Lost = sim.AnyNumber }, [][]scenario.Operation{user, taker}},
	{"channel errors without a bound", "mutex", 0, func(b *sim.Bounds) { b.Faults.ChannelErrors = sim.AnyNumber }, [][]scenario.Operation{user, taker}},
	{"an administrator, and a drop", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Drops = 1 }, [][]scenario.Operation{taker, admin}},
	{"an administrator, and a lost reply", "semaphore", 1, func(b *sim.Bounds) { b.Faults.Lost = 1 }, [][]scenario.Operation{taker, admin}},
}

func (r *small) bounds(t *testing.T) sim.Bounds {
	b := standard(0, 0, 0, r.slots, 0)
	b.Target = mutant.Named(r.target)
	for _, ref := range amqplock.References {
		if ref.Name == r.target {
			b.Target = ref
		}
	}
	if b.Target == nil {
		t.Fatal("no target", r.target)
	}
	for _, ops := range r.calls {
		b.Clients = append(b.Clients, scenario.Client{Ops: ops})
	}
	if r.change != nil {
		r.change(&b)
	}
	b.Options = b.Target.Settled(b.Options)
	b.Properties = property.Applicable(b.Target.Kind)
	if err := b.Check(); err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	return b
}

// TestSmallConfigurations compares complete searches of small configurations with a file: the numbers of states, the
// violations with their levels, and the counterexamples. A search that misses states or actions changes a line. The
// flag -rewrite writes the file anew.
func TestSmallConfigurations(t *testing.T) {
	var out strings.Builder
	for i := range smalls {
		smalls[i].tell(t, &out)
	}
	pinned.Text(t, "testdata/small.txt", out.String())
}

func (r *small) tell(t *testing.T, out *strings.Builder) {
	b := r.bounds(t)
	fmt.Fprintf(out, "## %s: %s\n", r.name, b.Target.Name)
	for _, red := range []Reductions{{}, AllReductions} {
		x := Run(context.Background(), b, Options{Reductions: red, Workers: 1})
		fmt.Fprintf(out, "%d states, %d transitions (by operation %d), %d levels, at most %d wide, %d final, %d unwitnessed, parts %d, cycles %v, stop %d\n",
			x.States, x.Transitions, x.Operations[:lock.Wait+1], x.Depth, x.Widest, x.Final, x.Unwitnessed, x.Parts, x.Cycles, x.Stop)
		for p := range property.Count {
			if x.Found.Has(p) {
				fmt.Fprintf(out, "%s at level %d\n", p, x.At[p])
			}
		}
		if x.Livelock != nil {
			fmt.Fprintf(out, "for ever: %v, then %v\n", x.Livelock.Prefix, x.Livelock.Cycle)
		}
		paths, _ := Counterexamples(context.Background(), b, red, x.Found, func([]scenario.Action) bool { return false })
		for _, p := range slices.Sorted(maps.Keys(paths)) {
			fmt.Fprintf(out, "%s: %v\n", p, paths[p])
		}
		var actions []string
		for do, taken := range x.Coverage.Actions {
			if taken {
				actions = append(actions, scenario.ActionKind(do).String())
			}
		}
		fmt.Fprintf(out, "exercised %d properties, actions %v, %d results, %d replies, slots in the end %v\n",
			bits.OnesCount32(uint32(x.Coverage.Exercised)), actions, len(x.Coverage.Results), len(x.Coverage.Replies), slices.Sorted(maps.Keys(x.Coverage.Ends)))
	}
}
