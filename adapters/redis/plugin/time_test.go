package plugin_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/property"
)

// TestTime: clients whose time is ours. They sleep and try again, they compare times of their own, they renew by a thread. None
// of that depends on how long anything really takes.
func TestTime(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	for name, wrong := range map[string]property.Set{
		"Retries":    0,
		"ByItsClock": 0,
		"Renews":     0,
		"RenewsOn":   property.Set(0).With(property.EffectiveRelease),
	} {
		t.Run(name, func(t *testing.T) {
			judgeIn(t, 30, &subprocess.Starter{
				Command: "/usr/bin/python3 redis_adapter.py " + name, Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
			}, 1, wrong)
		})
	}
}
