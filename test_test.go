package lockproof_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/outfile"
	"github.com/lockproof/lockproof/histories/report"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// TestTestFails: lockproof.Test reports a lock's bug as a failing subtest of the violated property. The output has a
// diagram, and a command that replays the execution.
func TestTestFails(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs another test, for each bug")
	}
	binary := filepath.Join(t.TempDir(), "golang.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "./testdata/targets/golang")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for bug, property := range map[string]string{
		"not-mandatory":          "progress",
		"return-ignored":         "progress",
		"verify-reconnects":      "stale-belief-ends",
		"release-closes-channel": "effective-release",
		"locked-is-success":      "mutual-exclusion",
		"locked-is-panic":        "no-crash",
	} {
		t.Run(bug, func(t *testing.T) {
			dir := t.TempDir()
			said := failing(t, binary, dir, "BUG="+bug)
			for _, want := range []string{"--- FAIL: TestBug/" + property + " ", "┏ ┗ call and return", "violated in scenario"} {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if property == "mutual-exclusion" && (!strings.Contains(said, "why: c") || !strings.Contains(said, "expected: c")) {
				t.Errorf("it does not say why, and what was expected:\n%s", said)
			}
			replay := regexp.MustCompile(`LOCKPROOF_REPLAY=(\S+) go test -run '\^TestBug\$' \.`).FindStringSubmatch(said)
			if replay == nil {
				t.Fatalf("it does not say how to see it again:\n%s", said)
			}
			if again := failing(t, binary, dir, "BUG="+bug, "LOCKPROOF_REPLAY="+replay[1]); !strings.Contains(again, property+": violated again") {
				t.Errorf("its counterexample does not replay:\n%s", again)
			}
		})
	}
}

// failing runs TestBug of a test binary in the folder dir, expects it to fail, and returns its output.
func failing(t *testing.T, binary, dir string, env ...string) string {
	t.Helper()
	cmd := exec.Command(binary, "-test.short", "-test.run", "^TestBug$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it passes:\n%s", out)
	}
	return string(out)
}

// envNothing is set in the process that TestNothingIsJudged starts. That process runs a test in which nothing is
// judged.
const envNothing = "LOCKPROOF_TEST_NOTHING"

// TestNothingIsJudged: a test fails if every property is skipped, and if a required property is skipped.
func TestNothingIsJudged(t *testing.T) {
	if os.Getenv(envNothing) != "" {
		never := []lockproof.Property{lockproof.SurvivesRestart}
		target := lockproof.Go("semaphore", func(ctx context.Context, url string) (lockproof.Lock, error) { return amqplocks.New(ctx, url) })
		lockproof.Test(t, target, lockproof.Sample{Options: lockproof.Options{Properties: never, Require: never}, Executions: 1, Workers: 1})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestNothingIsJudged$", "-test.v")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), envNothing+"=1")
	out, err := cmd.CombinedOutput()
	said := string(out)
	if err == nil || !strings.Contains(said, "nothing was judged: every property was skipped") ||
		!strings.Contains(said, "skipped and must not be: "+report.NeverExercised) {
		t.Errorf("%v\n%s", err, said)
	}
}

// envKept is set in the processes that TestKept starts. Its value is the bug of the lock that they test.
const envKept = "LOCKPROOF_TEST_KEPT"

// TestKept: a test first replays the counterexamples of earlier runs, and fails until their bugs are fixed.
// Counterexamples that pass then are moved, and replayed by later runs too. Files of other tests are ignored.
func TestKept(t *testing.T) {
	if bug, set := os.LookupEnv(envKept); set {
		target := lockproof.Go("jobs-lock", func(ctx context.Context, url string) (lockproof.Lock, error) {
			return amqplocks.NewWith(ctx, url, amqplocks.Bug(bug))
		})
		if file := os.Getenv("LOCKPROOF_TEST_ACCEPT"); file != "" {
			ce, err := histories.LoadCounterexample(file)
			if err != nil {
				t.Fatal(err)
			}
			f := known.Finding{Property: "mutual-exclusion", Fingerprint: ce.Fingerprint(), Reason: "ticket 17"}
			if err := known.Accept(outfile.Place{Path: known.FileName}, f); err != nil {
				t.Fatal(err)
			}
		}
		o := lockproof.Sample{Options: lockproof.Options{Properties: []lockproof.Property{lockproof.MutualExclusion}}, Executions: 60}
		if os.Getenv("LOCKPROOF_TEST_ONE") != "" {
			o.Executions, o.Clients, o.Admins = 10, 1, lockproof.None
		}
		lockproof.Test(t, target, o)
		return
	}
	dir := t.TempDir()
	const there, passed = "TestKept.mutual-exclusion.json", "passed/TestKept.mutual-exclusion.json"
	for i, step := range []struct {
		bug, one string
		fails    bool
		says, at string
	}{
		{string(amqplocks.LockedIsSuccess), "", true, "mutual-exclusion: violated in scenario", there},
		{string(amqplocks.LockedIsSuccess), "1", true, "mutual-exclusion: violated again, as by an earlier run", there},
		{string(amqplocks.NoBug), "1", false, "passes now, of an earlier run: testdata/lockproof/" + passed, passed},
		{string(amqplocks.NoBug), "1", false, "pass as before: 1 counterexample", passed},
		{string(amqplocks.LockedIsSuccess), "1", true, "violated again, of an earlier run: testdata/lockproof/" + there, there},
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKept$", "-test.v")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), envKept+"="+step.bug, "LOCKPROOF_TEST_ONE="+step.one)
		out, err := cmd.CombinedOutput()
		if said := string(out); (err != nil) != step.fails || !strings.Contains(said, step.says) {
			t.Errorf("step %d: %v\n%s", i+1, err, said)
		}
		var files []string
		for _, pattern := range []string{"*.json", "passed/*.json"} {
			more, err := filepath.Glob(filepath.Join(dir, "testdata/lockproof", pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
		if len(files) != 1 || !strings.HasSuffix(filepath.ToSlash(files[0]), "lockproof/"+step.at) {
			t.Errorf("step %d: expected %s, found %q", i+1, step.at, files)
		}
		data, err := os.ReadFile(files[0])
		if err != nil || !strings.Contains(string(data), `"target": "jobs-lock"`) {
			t.Errorf("step %d: it does not name the lock: %v", i+1, err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKept$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), envKept+"="+string(amqplocks.LockedIsSuccess), "LOCKPROOF_TEST_ONE=1", "LOCKPROOF_TEST_ACCEPT=testdata/lockproof/"+there)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "known, and no failure: ticket 17") || !strings.Contains(string(out), "SKIP: TestKept/mutual-exclusion") {
		t.Errorf("what is accepted: %v\n%s", err, out)
	}
}
