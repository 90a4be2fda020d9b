package foreign_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

func TestReferenceHolds(t *testing.T) {
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			runner := newRunner(t, target, nil)
			source := sim.NewSource(sim.Space{Target: target}, 7)
			var u foreign.Uncontrolled
			var seen property.Set
			n := 150
			if testing.Short() {
				n = 50
			}
			for i := range n {
				sc := runner.Playable(source.Scenario(i))
				runner.Measure(time.Duration((i%4)/3) * foreign.Settle)
				x, err := runner.Run(t.Context(), &sc)
				if err == nil && x.Found&foreign.Measured != 0 { // a busy machine may cause this
					runner.Measure(foreign.SettleLong)
					x, err = runner.Run(t.Context(), &sc)
				}
				if err != nil {
					t.Fatalf("scenario %d: %v", i, err)
				}
				u.Add(x.Uncontrolled)
				seen |= x.Exercised
				if x.Found != 0 {
					t.Fatalf("scenario %d: %v violated\n%s", i, x.Violations, drawn(x))
				}
			}
			if !u.Free() {
				t.Logf("not controlled: %v", u.Words())
			}
			if missing := property.ApplicableExternal(target.Kind) &^ seen; missing != 0 && !testing.Short() {
				t.Errorf("never exercised: %b", missing)
			}
		})
	}
}

// A runner that is interrupted in the middle of a run leaves no goroutine behind.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	target := amqplock.References[0]
	for i := range 10 {
		runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated,
			Starter: foreigntest.Machines{Target: target, Options: amqplock.DefaultOptions()}, Kind: target.Kind,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond)
		source := sim.NewSource(sim.Space{Target: target}, uint64(i))
		for err = nil; err == nil; {
			sc := runner.Playable(source.Scenario(i))
			_, err = runner.Run(ctx, &sc)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
}

func newRunner(t testing.TB, target *lock.Target, edit func(*foreign.Config)) *foreign.Runner {
	t.Helper()
	c := foreign.Config{Open: plugin.Simulated, Starter: foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}, Kind: target.Kind}
	if edit != nil {
		edit(&c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	runner, err := foreign.NewRunner(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return runner
}

func drawn(x *foreign.Execution) string {
	var b strings.Builder
	draw.Draw(&b, x.Trace, style.Style{})
	return b.String()
}

// unseen are mutants whose bug does not show in anything that clients are told, with the reason.
var unseen = map[string]string{
	"mutex-claim-unseen": "claiming is how somebody else's mutex may ask",
	"claim-unseen":       "claiming is how somebody else's semaphore may ask",
	"retries-forever":    "how often a client means to retry is not known",
	"admin-mutex-kept":   "it stays behind a channel that the broker has closed unasked, as RabbitMQ closes none",
	"timeout-is-refusal": "a reply is lost with its connection, so that nobody waits for it in vain",
	"one-connection":     "each client is a process of its own",
	"admin-mutex-early":  "what it leaves for a moment nobody meets there",
	"ascending-removal":  "there are as many slots as there should be",
	"wait-forever":       "it waits for a holder who never goes",
	"names-run-together": "only locks of eleven slots meet another's queues",
	"no-second-probe":    "a grant and a removal that overlap may be in either order",
	"reclaim-reconnects": "it declares its queue anew only where nobody else holds the slot",

	"probe-by-passive-declare": "an acquire may mend each channel that a probe has broken, and as often as there are slots",
}

// instead maps mutants to the property that they violate behind the gate, if it is not the property that they violate
// in the model.
var instead = map[string]property.Property{
	"mandatory-left-out":       property.ContiguousSlots, // no slots are created
	"slots-exclusive":          property.SurvivesRestart,
	"probe-is-claim":           property.LimitRespected,
	"probe-by-declare":         property.LimitRespected,
	"holder-expires":           property.MutualExclusion,
	"gives-up-silently":        property.MutualExclusion,
	"mutex-verify-reconnects":  property.MutualExclusion,
	"admin-mutex-is-lock-name": property.NoPhantomSlot,
	"admin-mutex-shared":       property.Linearizable,
	"admin-goes-on":            property.Linearizable,
	"no-admin-mutex":           property.Linearizable,
	"locked-is-full":           property.Linearizable,
	"persistent-mutex-unseen":  property.Linearizable,
	"verify-claim-only":        property.Linearizable,
	"verify-connection-only":   property.Linearizable,
	"verify-holder-only":       property.Linearizable,
	"verify-unrouted":          property.Linearizable,
}

// The mutants that test the prover are also found behind the gate, with real sockets.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the mutants behind the gate, which take half a minute")
	}
	for _, target := range mutant.All {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			why, hidden := unseen[target.Name]
			want, other := instead[target.Name]
			if !other {
				want = propertyNamed(t, target.Breaks)
			}
			seen := violated(t, target, want)
			switch {
			case hidden && seen != 0:
				t.Errorf("violates %v, and should violate nothing: %s", seen.Names(), why)
			case !hidden && !seen.Has(want):
				t.Errorf("violates %v, and should violate %s", seen.Names(), want)
			}
		})
	}
}

func propertyNamed(t *testing.T, name string) property.Property {
	p, err := property.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// violated runs executions of a mutant until one violates the property breaks, at most 400. It returns all violated
// properties.
func violated(t *testing.T, target *lock.Target, breaks property.Property) (seen property.Set) {
	runner := newRunner(t, target, nil)
	source := sim.NewSource(sim.Space{Target: target}, 7)
	for i := range 400 {
		sc := runner.Playable(source.Scenario(i))
		runner.Measure(0)
		if foreign.Measured.Has(breaks) {
			runner.Measure(foreign.SettleBriefly)
		}
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatalf("scenario %d: %v", i, err)
		}
		if seen |= x.Found; seen.Has(breaks) {
			break
		}
	}
	return seen
}

// Running every scenario twice gives the same commands in the same order, the same replies and the same verdicts. The
// clients send nothing unasked.
func TestSameSeedSameOrder(t *testing.T) {
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			source := sim.NewSource(sim.Space{Target: target}, 3)
			var traces [2][]string
			for turn := range traces {
				runner := newRunner(t, target, nil)
				for i := range 60 {
					if turn == 1 {
						i = 59 - i // in reverse order, as earlier runs must make no difference
					}
					sc := runner.Playable(source.Scenario(i))
					x, err := runner.Run(t.Context(), &sc)
					if err != nil {
						t.Fatal(err)
					}
					traces[turn] = append(traces[turn], drawn(x))
				}
			}
			slices.Reverse(traces[1])
			for i := range traces[0] {
				if traces[0][i] != traces[1][i] {
					t.Errorf("scenario %d came to two executions:\n%s\n%s", i, traces[0][i], traces[1][i])
				}
			}
		})
	}
}

// mute is a client that never connects to a broker.
type mute struct{ foreign.Client }

func (mute) Start(context.Context, int) (foreign.Client, error) { return mute{}, nil }

func (mute) Initialize(context.Context, foreign.Setup) (foreign.About, error) {
	return foreign.About{Name: "mute", Locks: []lock.Kind{lock.Mutex}, Operations: []lock.Op{lock.Acquire, lock.Release}}, nil
}

func (mute) Call(context.Context, lock.Op, foreign.Params) (lock.Result, error) {
	return lock.Result{Outcome: lock.Done}, nil
}

func (mute) Close() error { return nil }

// A client that does not use the address that it is given cannot be judged. The error says why.
func TestElsewhere(t *testing.T) {
	_, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Starter: mute{}, Kind: lock.Mutex})
	if !errors.Is(err, foreign.ErrElsewhere) {
		t.Errorf("got %v", err)
	}
}

// unwieldy is a client whose Go type is not comparable.
type unwieldy struct {
	foreign.Client
	_ []int
}

type unwieldyStarter struct{ foreign.Starter }

func (s unwieldyStarter) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return unwieldy{Client: c}, err
}

// Clients may be of types that are not comparable, and may be killed during a call.
func TestUncomparableClients(t *testing.T) {
	target := amqplock.References[0]
	runner := newRunner(t, target, func(c *foreign.Config) { c.Starter = unwieldyStarter{c.Starter} })
	source := sim.NewSource(sim.Space{Target: target}, 7)
	for i := range 5 {
		sc := runner.Playable(source.Scenario(i))
		if x, err := runner.Run(t.Context(), &sc); err != nil || x.Found != 0 {
			t.Fatalf("scenario %d: %v", i, err)
		}
	}
}
