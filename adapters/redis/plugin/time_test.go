package plugin_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestTime: clients whose time is ours. They sleep and try again, they compare times of their own, they renew by a thread. None
// of that depends on how long anything really takes.
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
		"RenewsOn":       property.Set(0).With(property.EffectiveRelease),
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

// TestTimePassesAtTheGate: time may pass up to the next timer while a command waits at the gate, and nobody has a timer. That the
// operation does not end meanwhile is not the client's doing.
func TestTimePassesAtTheGate(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	runner := runnerOf(t, &subprocess.Starter{
		Command: "/usr/bin/python3 redis_adapter.py ExpiresLater", Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
	}, 1) // an acquire has two commands
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
