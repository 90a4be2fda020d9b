package lockproof

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/golang"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
)

// What a lock written in Go looks like to [Test].
type (
	// Lock is one client of locks: it acquires, verifies and releases.
	Lock = golang.Lock
	// Administrator is a Lock that makes and destroys locks with slots. A Lock that is none is taken for
	// a mutex.
	Administrator = golang.Administrator
	// Resizer is an Administrator that changes the number of slots.
	Resizer = golang.Resizer
	// Waiter is a Lock that waits until nobody holds a slot.
	Waiter = golang.Waiter
)

// ErrNoEffect is, somewhere in it, the error of a Lock's method that certainly had no effect.
var ErrNoEffect = golang.ErrNoEffect

// TestConfig says what Test judges, and how thoroughly. New alone must be given.
type TestConfig struct {
	// New makes a client of the lock, connected to the broker at an AMQP URL. The context ends when the
	// client does.
	New func(ctx context.Context, url string) (Lock, error)
	// Kind is what the lock is taken for; nil is a semaphore for an Administrator, a mutex otherwise.
	Kind *lock.Kind
	// Seed decides every scenario; 0 is 1.
	Seed uint64
	// Scenarios is how many are run; 0 is [DefaultTestScenarios], or [ShortTestScenarios] under -short.
	Scenarios int
	// Workers is how many scenarios run at once, each with clients of its own; 0 is one for each processor.
	// Clients that share something, such as a connection, take 1.
	Workers int
	// Judge is which properties are subtests; empty is all of them.
	Judge spec.PropertySet
}

// How many scenarios Test runs that is not told.
const (
	DefaultTestScenarios = 2000
	ShortTestScenarios   = 200
)

// ReplayVariable is the environment variable by which Test replays a counterexample instead.
const ReplayVariable = "LOCKPROOF_REPLAY"

// Test judges a lock written in Go: a subtest for each property. A subtest that fails shows the shortest
// execution found, and the command that replays it; its counterexample is in testdata/lockproof.
//
// Clients are made by a constructor and find the simulated broker at an AMQP URL; lockproof decides in
// which order it sees their commands. What New is given and makes is one client: what clients share
// beside it, they share in production too.
func Test(t *testing.T, constructor func(ctx context.Context, url string) (Lock, error)) {
	t.Helper()
	TestWith(t, TestConfig{New: constructor})
}

// TestWith is Test with more to say.
func TestWith(t *testing.T, c TestConfig) {
	t.Helper()
	starter := golang.Starter{Name: t.Name(), New: c.New}
	if path := os.Getenv(ReplayVariable); path != "" {
		replayTest(t, path, starter)
		return
	}
	res, err := c.prove(t, starter, lock.Semaphore)
	if c.Kind == nil && errors.Is(err, golang.ErrNoAdministrator) {
		res, err = c.prove(t, starter, lock.Mutex)
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := saveTest(t.Name(), res)
	if err != nil {
		t.Error(err)
	}
	for i := range res.Report.Properties {
		if p := &res.Report.Properties[i]; c.Judge == 0 || c.Judge.Has(p.Property) {
			t.Run(spec.Properties[p.Property].Name, func(t *testing.T) { judgeTest(t, res.Report, p, files[p.Property]) })
		}
	}
	if len(res.Report.Uncontrolled) > 0 {
		t.Log("not controlled:", strings.Join(res.Report.Uncontrolled, "; "))
	}
}

func (c *TestConfig) scenarios() int {
	switch {
	case c.Scenarios > 0:
		return c.Scenarios
	case testing.Short():
		return ShortTestScenarios
	}
	return DefaultTestScenarios
}

// prove judges the lock as what it is said to be, or else as that kind.
func (c *TestConfig) prove(t *testing.T, starter golang.Starter, kind lock.Kind) (*Result, error) {
	if c.Kind != nil {
		kind = *c.Kind
	}
	return ProveForeign(t.Context(), ForeignConfig{
		Starter: starter, Name: t.Name(), Kind: kind, Seed: max(1, c.Seed), Scenarios: c.scenarios(), Workers: c.Workers, Until: c.Judge,
	})
}

// judgeTest is the subtest of a property.
func judgeTest(t *testing.T, r *histories.Report, p *histories.PropertyResult, file string) {
	t.Helper()
	verdict, why := r.Verdict(p)
	switch verdict {
	case histories.Skipped:
		t.Skip(why)
	case histories.Violated:
		v := p.Violation
		t.Errorf("%s: violated in scenario %d of seed %d\n%s\n\n%s", p.Property, v.Scenario, r.Seed, v.Detail, v.Diagram)
		if file != "" {
			root, _, _ := strings.Cut(t.Name(), "/")
			t.Errorf("replay it by\n%s=%s go test -run '^%s$' .", ReplayVariable, file, root)
		}
	default:
		t.Logf("put to the test %d times in %d scenarios", p.Checked, p.Scenarios)
	}
}

// saveTest writes the counterexamples of a test.
func saveTest(name string, res *Result) (map[spec.Property]string, error) {
	files := make(map[spec.Property]string)
	for _, ce := range res.Counterexamples("go test -run " + name) {
		dir := filepath.Join("testdata", "lockproof")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return files, err
		}
		path := filepath.Join(dir, histories.FileName(ce.Property, strings.ReplaceAll(name, "/", "-")))
		if err := ce.Save(path); err != nil {
			return files, err
		}
		files[ce.Property] = path
	}
	return files, nil
}

// replayTest carries out a counterexample again, if it is this test's.
func replayTest(t *testing.T, path string, starter golang.Starter) {
	t.Helper()
	ce, err := histories.LoadCounterexample(path)
	if err != nil {
		t.Fatal(err)
	}
	if ce.Scenario.Target != t.Name() {
		t.Skipf("%s is a counterexample of %s", path, ce.Scenario.Target)
	}
	r, err := ReplayForeign(t.Context(), ce, starter, ForeignBroker{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil {
		t.Logf("%s holds in this execution\n%s", ce.Property, drawn(r.Trace))
		return
	}
	t.Errorf("%s: violated again\n%s\n\n%s", ce.Property, r.Violation.Explain(), drawn(r.Trace))
}
