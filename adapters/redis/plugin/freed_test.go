package plugin_test

import (
	"os"
	"os/exec"
	"strings"
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

// TestFreesAtOnce: a lock that nobody holds can be acquired before any lease ends. A client that leaves a key behind,
// for example after a lost reply, breaks this promise and violates nothing else. A client that cleans up after an
// error keeps the promise.
func TestFreesAtOnce(t *testing.T) {
	python := func(name string) foreign.Starter {
		return &subprocess.Starter{Command: "/usr/bin/python3 redis_adapter.py " + name, Dir: "../../../testdata/targets/python", Stderr: os.Stderr}
	}
	const lost = "after a lost reply to c1, nobody holds lock jobs any more, but c3, a fresh client, is refused it until a lease ends"
	for name, c := range map[string]struct {
		starter foreign.Starter
		servers int
		says    string
	}{
		"ForgetsToken":      {starter: python("ForgetsToken"), servers: 1, says: lost},
		"TidiesUp":          {starter: python("TidiesUp"), servers: 1},
		"Redlock":           {starter: quorums(quorum{again: true}), servers: 3},
		"Redlock, leaves":   {starter: quorums(quorum{leaves: true}), servers: 3, says: "after a refused acquire of c"},
		"Renews, and tells": {starter: python("TellsLosses"), servers: 1, says: "after a lost reply to c"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("/usr/bin/python3"); err != nil && c.servers == 1 {
				t.Skip("NOT TESTED: there is no Python")
			}
			runner := runnerOf(t, c.starter, c.servers)
			source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 1)
			var exercised property.Set
			n := uint16(60)
			if c.says != "" {
				n = executions
			}
			for i := range n {
				sc := source.External(int(i), runner.Traits())
				if c.servers == 1 && i%2 == 0 {
					sc = losing(1 + i/2)
				}
				sc = runner.Playable(sc)
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(i, err)
				}
				exercised |= x.Exercised
				if bad := x.Found &^ property.Promises; bad != 0 || x.Found.Has(property.FreesAtOnce) && c.says == "" {
					t.Fatalf("execution %d: %v\n%s", i, x.Violations, gatetest.Drawn(x))
				}
				for _, v := range x.Violations {
					if v.Property == property.FreesAtOnce && strings.HasPrefix(v.Detail, c.says) {
						t.Logf("execution %d: %v\n%s", i, x.Violations, gatetest.Drawn(x))
						return
					}
				}
			}
			if c.says != "" || !exercised.Has(property.FreesAtOnce) {
				t.Errorf("put to the test: %v", exercised.Names())
			}
		})
	}
}

// losing returns a scenario in which client 1 loses a reply, and all clients release what they acquire. at is the
// position of the fault in the schedule.
func losing(at uint16) scenario.Scenario {
	ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}
	return scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs"}},
		Clients: []scenario.Client{{Ops: ops}, {Ops: ops}},
		Faults:  []scenario.Fault{{Do: scenario.Lose, At: at, Client: 1}},
	}
}
