package plugin_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestShares: clients acquire for reading or writing, or acquire several permits. A lock with a bug violates the
// expected property, and a correct one violates none and breaks no promise.
func TestShares(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip("NOT TESTED: there is no Python")
	}
	alone := property.Set(0).With(property.Linearizable)
	shared, limited := property.Set(0).With(property.MutualExclusion), property.Set(0).With(property.LimitRespected)
	for name, c := range map[string]struct {
		kind  lock.Kind
		wrong property.Set
	}{
		"ReadsAndWrites":      {lock.Mutex, 0},
		"WritesBesideReaders": {lock.Mutex, shared},
		"ReadsBesideWriters":  {lock.Mutex, shared},
		"LooksThenReads":      {lock.Mutex, shared},
		"ReadsAlone":          {lock.Mutex, alone},
		"Permits":             {lock.Semaphore, 0},
		"CountsHolders":       {lock.Semaphore, limited},
		"OneTooMany":          {lock.Semaphore, limited},
		"PermitByPermit":      {lock.Semaphore, alone},
	} {
		t.Run(name, func(t *testing.T) {
			runner := runnerFor(t, &subprocess.Starter{
				Command: "/usr/bin/python3 redis_adapter.py " + name, Dir: "../../../testdata/targets/python", Stderr: os.Stderr,
			}, 1, c.kind)
			like := amqplock.References[slices.IndexFunc(amqplock.References, func(t *lock.Target) bool { return t.Kind == c.kind })]
			if c.wrong != 0 && c.wrong != alone {
				judgeFor(t, executions, runner, like, c.wrong)
				return
			}
			source := sim.NewSource(sim.Space{Target: like}, 1)
			var found, exercised property.Set
			for i := 0; i < 60 && (c.wrong == 0 || found != c.wrong); i++ {
				sc := runner.Playable(source.External(i, runner.Traits()))
				x, err := runner.Run(t.Context(), &sc)
				if err != nil || x.Undecided != "" {
					t.Fatal(i, err, x.Undecided)
				}
				found, exercised = found|x.Found&^(1<<property.FreesAtOnce), exercised|x.Exercised
			}
			if judged := alone | shared&exercised | limited&exercised; found != c.wrong || !exercised.Has(property.Linearizable) || judged == alone {
				t.Errorf("found %v, expected %v; put to the test %v", found.Names(), c.wrong.Names(), exercised.Names())
			}
		})
	}
}
