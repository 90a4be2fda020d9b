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

// heldBy is how the designs hold their locks, by how their names begin; the first counts.
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

// holding is how a design holds its locks.
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

// declaring is a runner of a design whose user has declared how it is held.
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

// TestHoldingRightDesigns: where it is declared how a right lock is held, it is accused of nothing either, and pictures show who
// holds it.
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

// TestHoldingFindsEarlier: a wrong lock is found in fewer executions where it is declared how it is held.
func TestHoldingFindsEarlier(t *testing.T) {
	for _, test := range []struct {
		name string
		seed uint64
		n    int // executions that it takes
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

// TestHoldingTwo: that the server has somebody else hold the lock as well is seen though that one has released it.
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

// TestHoldingElsewhere: a declaration by which nobody ever holds anything is said, and nothing is judged by it.
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

// scenarioOf is a client that acquires and releases a lock of its own.
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
