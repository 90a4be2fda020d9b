package lockproof

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/report"
)

// The numbers of executions that Test runs by default: without and with the flag -short of go test.
const (
	testExecutions  = 2000
	shortExecutions = 200
)

// replayVariable is the environment variable with the file of a counterexample. If it is set, Test only replays that.
const replayVariable = "LOCKPROOF_REPLAY"

// Test judges a lock inside go test, with a subtest for each property. It writes counterexamples to testdata/lockproof.
// Later runs replay these first, and fail as long as one still shows its violation. Those that pass now are moved to
// the subfolder passed. LOCKPROOF_REPLAY=FILE replays one file. If lockproof.known.yaml beside the test accepts a
// violation, its property is skipped until the entry expires.
func Test(tb testing.TB, t Target, s Sample) {
	tb.Helper()
	if path := os.Getenv(replayVariable); path != "" {
		replayTest(tb, path, t, s.Options)
		return
	}
	if s.Executions == 0 {
		s.Executions = testExecutions
		if testing.Short() {
			s.Executions = shortExecutions
		}
	}
	files := testFiles{test: tb.Name(), folder: kept.Folder{At: outfile.Place{Path: filepath.Join("testdata", "lockproof"), Folder: "."}}, found: s.Found}
	s.Found = files.save
	r, err := newRun(tb.Context(), t, s.Options)
	if err != nil {
		tb.Fatal(err)
	}
	r.past = &kept.Past{Folder: files.folder, By: files.command()}
	if r.known, err = known.Load(known.FileName); err != nil {
		tb.Fatal(err)
	}
	res, err := r.sample(&s)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(r.earlier.Err, files.finish(res)); err != nil {
		tb.Error(err)
	}
	for _, line := range res.engine.Report.Earlier.Lines() {
		tb.Log(line)
	}
	for _, j := range res.Judgements {
		subtest(tb, string(j.Property), func(tb testing.TB, skip func(...any)) {
			tb.Helper()
			res.test(tb, skip, &j)
		})
	}
	if r := res.engine.Report; !r.Judged() {
		tb.Error("nothing was judged: every property was skipped")
	} else if len(r.Uncontrolled) > 0 {
		tb.Log("not controlled:", strings.Join(r.Uncontrolled, "; "))
	}
}

// subtest calls do in a subtest if tb is a *testing.T or *testing.B, otherwise directly. skip ends only the subtest.
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

// test fails, skips or passes the subtest of a property according to its judgement.
func (r *Result) test(tb testing.TB, skip func(...any), j *Judgement) {
	tb.Helper()
	judged := r.engine.Report
	p := &judged.Properties[r.index(j.Property)]
	switch {
	case judged.Owes(p):
		tb.Errorf("%s and must not be: %s", j.Verdict, j.Reason)
	case j.Verdict == Skipped:
		skip(j.Reason)
	case j.Counterexample != nil && p.Violation.Accepted():
		skip(p.Violation.Known.Words())
	case j.Counterexample != nil:
		again := p.Violation.Reproduced()
		if again != "" {
			again = ", " + again
		}
		where := fmt.Sprintf("in scenario %d of seed %d", j.Counterexample.Execution, judged.Seed)
		if p.Violation.Earlier {
			where = "again, as by an earlier run"
		}
		if known := p.Violation.Known; known != nil {
			again += "; " + known.Words()
		}
		drawn := j.Counterexample.Diagram
		if at := r.engine.Report.DrawnAt(r.reported(j)); at != "" {
			drawn = "the execution is the one drawn at " + at
		}
		tb.Errorf("%s: %s %s%s\n%s\n\n%s", j.Property, j.Verdict, where, again, r.told(j), drawn)
		if file := p.Violation.File; file != "" {
			root, _, _ := strings.Cut(tb.Name(), "/")
			tb.Errorf("replay it by\n%s=%s go test -run '^%s$' .", replayVariable, file, root)
		}
	default:
		tb.Logf("%s was put to the test %d times in %d scenarios", j.Property, j.Checked, p.Scenarios)
	}
}

// reported is the entry of the engine's report for a judgement.
func (r *Result) reported(j *Judgement) *report.PropertyResult {
	return &r.engine.Report.Properties[r.index(j.Property)]
}

// told explains a counterexample in lines: what it shows, how it came about, and what a correct lock does.
func (r *Result) told(j *Judgement) string {
	lines := []string{j.Counterexample.Detail}
	if found := r.reported(j).Violation; found != nil {
		lines = append(lines, found.Why()...)
	}
	return strings.Join(lines, "\n")
}

// testFiles writes the counterexamples of one test to files.
type testFiles struct {
	test   string
	folder kept.Folder
	names  kept.Names
	found  func(*Counterexample) // the user's callback; may be nil
}

// command is the go test command that runs the test. Counterexamples record it, so that a test recognises its own.
func (f *testFiles) command() string { return "go test -run " + f.test }

// name is the name of the file for a counterexample of the test.
func (f *testFiles) name(c *histories.Counterexample) string {
	return c.FileName(strings.ReplaceAll(f.test, "/", "-"))
}

// save writes a counterexample as soon as it is found, so that it survives if the test dies. It does not overwrite a
// file of an earlier run. It ignores a failed write, which finish reports.
func (f *testFiles) save(c *Counterexample) {
	if name := f.names.Now(f.folder, c.file, f.name(c.file)); name != "" {
		_ = f.write(c.file, name)
	}
	if f.found != nil {
		f.found(c)
	}
}

// finish writes the counterexamples of a finished run, and puts the paths of their files into the report.
func (f *testFiles) finish(res *Result) (err error) {
	for _, j := range res.Judgements {
		found := res.engine.Report.Properties[res.index(j.Property)].Violation
		if found == nil || found.Earlier || j.Counterexample.file == nil {
			continue
		}
		name, unnamed := f.names.AtLast(f.folder, j.Counterexample.file, f.name(j.Counterexample.file))
		if unnamed == nil {
			unnamed = f.write(j.Counterexample.file, name)
		}
		if unnamed == nil {
			found.File = f.folder.Place(name).Path
		}
		err = errors.Join(err, unnamed)
	}
	return err
}

// write writes a counterexample to a file with the given name.
func (f *testFiles) write(c *histories.Counterexample, name string) error {
	c.Origin.Command = f.command()
	return errors.Join(f.folder.At.Make(), c.SaveAt(f.folder.Place(name)))
}

// replayTest replays the counterexample in a file. It skips the test if the counterexample is of another target.
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
		tb.Errorf("%s: violated again\n%s\n\n%s", c.Property, res.told(&j), j.Counterexample.Diagram)
		return
	}
	tb.Logf("%s holds in this execution, carried out %d times\n%s", c.Property, res.Executions, res.diagram)
}
