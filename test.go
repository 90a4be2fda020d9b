// Package lockproof decides whether a distributed lock or semaphore is correct and cheap, and shows
// the shortest execution found in which it is not.
package lockproof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/golang"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
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
	Judge property.Set
	// Require is which properties fail the test where they are not judged; empty is none. That nothing at all is
	// judged always fails it.
	Require property.Set
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
	files := testFiles{test: t.Name(), judge: c.Judge, paths: make(map[property.Property]string)}
	res, err := c.prove(t, starter, lock.Semaphore, &files)
	if c.Kind == nil && errors.Is(err, golang.ErrNoAdministrator) {
		res, err = c.prove(t, starter, lock.Mutex, &files)
	}
	if files.err != nil {
		t.Error(files.err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := res.Report
	r.Required = c.Require
	for i := range r.Properties {
		p := &r.Properties[i]
		t.Run(property.Properties[p.Property].Name, func(t *testing.T) { judgeTest(t, r, p, files.paths[p.Property]) })
	}
	if !r.Judged() {
		t.Error("nothing was judged: every property was skipped")
	}
	if len(r.Uncontrolled) > 0 {
		t.Log("not controlled:", strings.Join(r.Uncontrolled, "; "))
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
func (c *TestConfig) prove(t *testing.T, starter golang.Starter, kind lock.Kind, files *testFiles) (*engine.Result, error) {
	if c.Kind != nil {
		kind = *c.Kind
	}
	return engine.ProveForeign(t.Context(), engine.ForeignConfig{
		Starter: starter, Name: t.Name(), Kind: kind, Seed: max(1, c.Seed), Scenarios: c.scenarios(), Workers: c.Workers,
		Properties: c.Judge, Until: c.Judge,
		Found: files.save,
	})
}

// judgeTest is the subtest of a property.
func judgeTest(t *testing.T, r *report.Report, p *report.PropertyResult, file string) {
	t.Helper()
	verdict, why := r.Verdict(p)
	switch {
	case r.Owes(p):
		t.Errorf("%s and must not be: %s", verdict, why)
	case verdict == report.Skipped:
		t.Skip(why)
	case p.Violation != nil:
		v := p.Violation
		said := fmt.Sprintf("%s: %s in scenario %d of seed %d", p.Property, verdict, v.Scenario, r.Seed)
		if again := v.Reproduced(); again != "" {
			said += ", " + again
		}
		t.Errorf("%s\n%s\n\n%s", said, v.Detail, v.Diagram)
		if file != "" {
			root, _, _ := strings.Cut(t.Name(), "/")
			t.Errorf("replay it by\n%s=%s go test -run '^%s$' .", ReplayVariable, file, root)
		}
	default:
		t.Logf("put to the test %d times in %d scenarios", p.Checked, p.Scenarios)
	}
}

// testFiles are the files of a test's counterexamples, by property.
type testFiles struct {
	test  string
	judge property.Set
	paths map[property.Property]string
	err   error // the first
}

// save writes a counterexample as soon as it is known, so that it is there however the test ends.
func (f *testFiles) save(ce *histories.Counterexample) {
	if f.judge != 0 && !f.judge.Has(ce.Property) {
		return
	}
	dir := filepath.Join("testdata", "lockproof")
	path := filepath.Join(dir, histories.FileName(ce.Property, strings.ReplaceAll(f.test, "/", "-")))
	ce.Origin.Command = "go test -run " + f.test
	if err := errors.Join(os.MkdirAll(dir, 0o755), ce.Save(path)); err != nil {
		f.err = cmp.Or(f.err, err)
		return
	}
	f.paths[ce.Property] = path
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
	r, err := engine.ReplayForeign(t.Context(), ce, starter, engine.ForeignBroker{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil {
		t.Logf("%s holds in this execution, carried out %d times\n%s", ce.Property, r.Tries.Of, engine.Drawing(r.Trace))
		return
	}
	t.Errorf("%s: violated again\n%s\n\n%s", ce.Property, r.Violation.Explain(), engine.Drawing(r.Trace))
}
