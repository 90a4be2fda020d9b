package foreign_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// heldBy says what holds the locks of a design, by the beginning of the design's name. The first match counts.
var heldBy = []struct {
	kind      lock.Kind
	name, how string
}{
	{lock.Semaphore, "guidelines", "queue jobs-B-{slot}"},
	{lock.Semaphore, "exchanges", "queue jobs.holder.{slot}"},
	{lock.Semaphore, "first exchanges", "queue jobs.holder.{slot}"},
	{lock.Semaphore, "consumers with limits", "consumer jobs.holders"},
	{lock.Semaphore, "consumer", "consumer slots/{slot-1}/of/jobs"},
	{lock.Semaphore, "", "message jobs.tokens"},
	{lock.Mutex, "several queues", "queue lock.jobs"},
	{lock.Mutex, "several tokens", "message token.jobs"},
	{lock.Mutex, "token", "message jobs.token"},
	{lock.Mutex, "subscribed token", "message jobs.token"},
	{lock.Mutex, "mutex token", "message jobs.token"},
	{lock.Mutex, "single active consumer", "message jobs.token"},
	{lock.Mutex, "active consumer", "consumer jobs.active"},
	{lock.Mutex, "waiting consumer", "consumer jobs.active"},
	{lock.Mutex, "exclusive consumer", "consumer jobs.lock"},
	{lock.Mutex, "consumer", "consumer jobs.lock"},
	{lock.Mutex, "mutex consumer", "consumer jobs.lock"},
	{lock.Mutex, "", "queue jobs.lock"},
}

// holding is the declaration of what holds the locks of a design.
func (d *design) holding(t *testing.T) holding.Declared {
	t.Helper()
	for _, h := range heldBy {
		if h.kind == d.kind && strings.HasPrefix(d.name, h.name) {
			return declared(t, h.how)
		}
	}
	t.Fatalf("nothing is known of how %s is held", d.name)
	return holding.Declared{}
}

func declared(t *testing.T, how string) holding.Declared {
	t.Helper()
	h, err := holding.Parse(how)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// declaring is a runner for a design with declaration h.
func (d *design) declaring(t *testing.T, h holding.Declared) *foreign.Runner {
	t.Helper()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Simulated, Kind: d.kind, Holding: h, Starter: inprocess.Starter{
		Name: d.name, New: func(_ context.Context, url string) (inprocess.Lock, error) { return d.new(t.Context(), url) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// With a declaration of what holds them, right locks violate nothing either. Pictures show who holds the lock.
func TestHoldingRightDesigns(t *testing.T) {
	for _, d := range rightDesigns {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			n := max(*executions, 15)
			if testing.Short() && *executions == 0 {
				n = 5
			}
			runner := d.declaring(t, d.holding(t))
			if x, i := d.judgedBy(t, runner, 1, n); x != nil {
				t.Errorf("execution %d: %v\n%s", i, x.Violations, drawn(x))
			}
			if said := runner.Unheld(); said != "" {
				t.Error(said)
			}
			sc := runner.Playable(scenarioOf(d.kind))
			x, err := runner.Run(t.Context(), &sc)
			if err != nil {
				t.Fatal(err)
			}
			if shown := drawn(x); !strings.Contains(shown, "B←c1") && !strings.Contains(shown, "held←c1") {
				t.Errorf("nobody is shown to hold the lock\n%s", shown)
			}
		})
	}
}

// With a declaration, a wrong lock is found in fewer executions than without.
func TestHoldingFindsEarlier(t *testing.T) {
	for _, test := range []struct {
		name string
		seed uint64
		n    int // number of executions that suffice
		is   property.Property
	}{
		{"several queues, last only", 36, 5, property.MutualExclusion},
		{"verify asks the other connection", 2, 35, property.StaleBeliefEnds},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := designNamed(t, test.name)
			x, n := d.judgedBy(t, d.declaring(t, d.holding(t)), test.seed, test.n)
			if x == nil || !x.Found.Has(test.is) {
				t.Fatalf("%s is not violated in %d executions", test.is, test.n)
			}
			t.Logf("execution %d: %v", n, x.Violations)
			if x, n := d.judged(t, test.seed, test.n); x != nil {
				t.Errorf("execution %d, without: %v", n, x.Violations)
			}
		})
	}
}

// A second holder that the server shows is a violation, even after that client has released the lock as far as it
// knows.
func TestHoldingTwo(t *testing.T) {
	d := mutexOf("consumer that stays", mutexes.Consumer{NotExclusive: true, NotCancelled: true}, false)
	runner := d.declaring(t, declared(t, "consumer jobs.lock"))
	sc := scenarioOf(d.kind)
	sc.Clients = append(sc.Clients, scenario.Client{Ops: []scenario.Operation{acquire}})
	seen := ""
	if _, err := runner.Explore(t.Context(), runner.Playable(sc), orders.Options{Runs: 50}, func(x *foreign.Execution) error {
		if v, ok := x.Violation(property.MutualExclusion); ok {
			seen += v.Detail + "\n"
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(seen, "c2 was told that it holds the lock, but by consumer jobs.lock c1 does as well") {
		t.Errorf("it says\n%s", seen)
	}
}

// If a declaration never shows a holder, Unheld says so, and nothing is judged by the declaration.
func TestHoldingElsewhere(t *testing.T) {
	d := designNamed(t, "exclusive queue")
	for _, how := range []string{"queue jobs.queue", "message jobs.lock", "consumer jobs.lock", "absent jobs.token"} {
		runner := d.declaring(t, declared(t, how))
		if x, i := d.judgedBy(t, runner, 1, 5); x != nil {
			t.Errorf("%s, execution %d: %v\n%s", how, i, x.Violations, drawn(x))
		}
		if said := runner.Unheld(); !strings.Contains(said, strings.Replace(how, "jobs", "{name}", 1)) {
			t.Errorf("%s: it says %q", how, said)
		}
	}
	runner := d.declaring(t, holding.Declared{})
	if said := runner.Unheld(); said != "" {
		t.Errorf("nothing is declared, and it says %q", said)
	}
}

// scenarioOf is a scenario with one client that acquires and releases a lock of the given type.
func scenarioOf(kind lock.Kind) scenario.Scenario {
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: []scenario.Operation{acquire, release}}}}
	if kind == lock.Semaphore {
		sc.Locks[0].Slots = 2
	}
	return sc
}

func designNamed(t *testing.T, name string) *design {
	t.Helper()
	for _, all := range [][]design{rightDesigns, wrongDesigns} {
		for i := range all {
			if all[i].name == name {
				return &all[i]
			}
		}
	}
	t.Fatalf("no design is called %q", name)
	return nil
}
