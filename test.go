package lockproof

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/outfile"
)

// How many executions Test runs by default, and under -short.
const (
	testExecutions  = 2000
	shortExecutions = 200
)

// replayVariable is the environment variable by which Test replays a counterexample instead.
const replayVariable = "LOCKPROOF_REPLAY"

// Test judges a lock inside go test, property by property. Counterexamples are left in testdata/lockproof;
// LOCKPROOF_REPLAY=FILE replays one.
func Test(tb testing.TB, t Target, o Options) {
	tb.Helper()
	if t.connect != nil {
		t.name = tb.Name()
	}
	if path := os.Getenv(replayVariable); path != "" {
		replayTest(tb, path, t, o)
		return
	}
	if o.Executions == 0 {
		o.Executions = testExecutions
		if testing.Short() {
			o.Executions = shortExecutions
		}
	}
	files := testFiles{test: tb.Name(), paths: make(map[Property]string), found: o.Found}
	o.Found = files.save
	res, err := Prove(tb.Context(), t, o)
	if files.err != nil {
		tb.Error(files.err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	for _, j := range res.Judgements {
		subtest(tb, string(j.Property), func(tb testing.TB, skip func(...any)) {
			tb.Helper()
			res.test(tb, skip, &j, files.paths[j.Property])
		})
	}
	if r := res.engine.Report; !r.Judged() {
		tb.Error("nothing was judged: every property was skipped")
	} else if len(r.Uncontrolled) > 0 {
		tb.Log("not controlled:", strings.Join(r.Uncontrolled, "; "))
	}
}

// subtest runs part of a test under a name of its own, where that is possible. skip ends no more than the part.
func subtest(tb testing.TB, name string, do func(tb testing.TB, skip func(...any))) {
	tb.Helper()
	switch t := tb.(type) {
	case *testing.T:
		t.Run(name, func(t *testing.T) { t.Helper(); do(t, t.Skip) })
	case *testing.B:
		t.Run(name, func(b *testing.B) { b.Helper(); do(b, b.Skip) })
	default:
		do(tb, func(why ...any) { tb.Log(append([]any{name, "skipped:"}, why...)...) })
	}
}

// test fails or skips the test of a property as its verdict says.
func (r *Result) test(tb testing.TB, skip func(...any), j *Judgement, file string) {
	tb.Helper()
	judged := r.engine.Report
	p := &judged.Properties[r.index(j.Property)]
	switch {
	case judged.Owes(p):
		tb.Errorf("%s and must not be: %s", j.Verdict, j.Reason)
	case j.Verdict == Skipped:
		skip(j.Reason)
	case j.Counterexample != nil:
		again := p.Violation.Reproduced()
		if again != "" {
			again = ", " + again
		}
		tb.Errorf("%s: %s in scenario %d of seed %d%s\n%s\n\n%s",
			j.Property, j.Verdict, j.Counterexample.Execution, judged.Seed, again, j.Counterexample.Detail, j.Counterexample.Diagram)
		if file != "" {
			root, _, _ := strings.Cut(tb.Name(), "/")
			tb.Errorf("replay it by\n%s=%s go test -run '^%s$' .", replayVariable, file, root)
		}
	default:
		tb.Logf("%s was put to the test %d times in %d scenarios", j.Property, j.Checked, p.Scenarios)
	}
}

// testFiles are the files of a test's counterexamples, by property.
type testFiles struct {
	test  string
	paths map[Property]string
	found func(*Counterexample) // that the user has asked for; may be nil
	err   error                 // the first
}

// save writes a counterexample as soon as it is known, so that it is there however the test ends.
func (f *testFiles) save(c *Counterexample) {
	dir := outfile.Place{Path: filepath.Join("testdata", "lockproof"), Folder: "."}
	path := filepath.Join(dir.Path, c.file.FileName(strings.ReplaceAll(f.test, "/", "-")))
	c.file.Origin.Command = "go test -run " + f.test
	if err := errors.Join(dir.Make(), c.file.SaveAt(outfile.Place{Path: path, Folder: dir.Folder})); err != nil {
		f.err = cmp.Or(f.err, err)
		return
	}
	f.paths[c.Property] = path
	if f.found != nil {
		f.found(c)
	}
}

// replayTest carries out a counterexample again, if it is this test's.
func replayTest(tb testing.TB, path string, t Target, o Options) {
	tb.Helper()
	c, err := LoadCounterexample(path)
	if err != nil {
		tb.Fatal(err)
	}
	if c.Name != t.shown() {
		tb.Skipf("%s is a counterexample of %s", path, c.Name)
	}
	c.Target = t
	res, err := Replay(tb.Context(), c, o)
	if err != nil {
		tb.Fatal(err)
	}
	if j := res.Judgement(c.Property); j.Counterexample != nil {
		tb.Errorf("%s: violated again\n%s\n\n%s", c.Property, j.Counterexample.Detail, j.Counterexample.Diagram)
		return
	}
	tb.Logf("%s holds in this execution, carried out %d times\n%s", c.Property, res.Executions, res.diagram)
}
