package plugin_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestTime: clients with virtual time sleep and retry, compare times, and renew leases in a thread. The verdicts do
// not depend on how long anything really takes.
func TestTime(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	for name, wrong := range map[string]property.Set{
		"Retries":        0,
		"ByItsClock":     0,
		"ShortensLater":  0,
		"DiesOfRenewing": property.Set(0).With(property.NoCrash),
		"TrustsItsClock": property.Set(0).With(property.MutualExclusion),
		"Renews":         0,
		"RenewsOn":       property.Set(0).With(property.Progress),
	} {
		t.Run(name, func(t *testing.T) {
			n := 60
			if wrong != 0 {
				n = executions / 3
			}
			judgeIn(t, n, &subprocess.Starter{
				Command: "/usr/bin/python3 redis_adapter.py " + name, Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
			}, 1, wrong)
		})
	}
}

// TestTimePassesAtTheGate: while a command waits at the gate, time may pass although no client has a timer. The
// operation does not count as hanging then.
func TestTimePassesAtTheGate(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	runner := runnerOf(t, &subprocess.Starter{
		Command: "/usr/bin/python3 redis_adapter.py ExpiresLater", Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
	}, 1) // an acquire of ExpiresLater sends two commands
	for at := range uint16(4) {
		sc := runner.Playable(scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs"}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}}},
			Faults:  []scenario.Fault{{Do: scenario.Advance, At: 1 + at}},
		})
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if bad := x.Found &^ property.Promises; bad != 0 || x.Uncontrolled.Hung > 0 {
			t.Errorf("time passes at %d: %v, %+v\n%s", 1+at, x.Violations, x.Uncontrolled, gatetest.Drawn(x))
		}
	}
}

// TestExtensions: holders extend their leases. A lock with a bug is found, for example one that reports success
// although another client holds the lock, or whose lease does not become longer. A correct lock violates nothing.
func TestExtensions(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	taken := property.Set(0).With(property.MutualExclusion)
	for name, wrong := range map[string]property.Set{
		"Extends":             0,
		"ExtendsAnybodys":     taken.With(property.StaleBeliefEnds),
		"OnlyAsks":            taken,
		"AsksAndExtends":      taken,
		"ShortensByExtending": taken,
	} {
		t.Run(name, func(t *testing.T) {
			n := 60
			if wrong != 0 {
				n = executions
			}
			judgeIn(t, n, &subprocess.Starter{
				Command: "/usr/bin/python3 redis_adapter.py " + name, Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
			}, 1, wrong)
		})
	}
}

// TestLosses: clients report the loss of locks. A client that reports a lock that it still holds, or never reports a
// loss, breaks a promise. A client that releases the lock after a loss may take it from another client.
func TestLosses(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	for name, c := range map[string]struct{ wrong, broken property.Set }{
		"TellsLosses":      {},
		"NeverTells":       {broken: property.Set(0).With(property.LossTold)},
		"GivesUpRenewing":  {broken: property.Set(0).With(property.LossTold)},
		"TellsFalsely":     {broken: property.Set(0).With(property.LossTold)},
		"TellsAndReleases": {wrong: property.Set(0).With(property.MutualExclusion)},
	} {
		t.Run(name, func(t *testing.T) {
			runner := runnerOf(t, &subprocess.Starter{
				Command: "/usr/bin/python3 redis_adapter.py " + name, Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
			}, 1)
			source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 1)
			var found, exercised property.Set
			var told foreign.Told
			for i := range 60 {
				sc := runner.Playable(source.External(i, runner.Traits()))
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(i, err)
				}
				found, exercised = found|x.Found, exercised|x.Exercised
				told.Add(x.Told)
				if want := c.wrong | c.broken; want != 0 && found&want == want {
					return
				}
				if bad := found &^ property.Promises &^ c.wrong; bad != 0 {
					t.Fatalf("execution %d: %v\n%s", i, x.Violations, gatetest.Drawn(x))
				}
			}
			if c.wrong|c.broken != 0 || found.Has(property.LossTold) || !exercised.Has(property.LossTold) || told.Times == 0 || told.Most == 0 {
				t.Errorf("found %v, put to the test %v, told %+v", found.Names(), exercised.Names(), told)
			}
		})
	}
}
