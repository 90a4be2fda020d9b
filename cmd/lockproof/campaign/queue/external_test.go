package queue_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/natstest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// python returns the command of the example in Python with a bug. It skips the test if Python or its driver is missing.
func python(t *testing.T, bug string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	const interpreter = "/usr/bin/python3"
	if err := exec.Command(interpreter, "-c", "import pika").Run(); err != nil {
		if os.Getenv("LOCKPROOF_REQUIRE_EXAMPLES") == "1" {
			t.Fatal(err)
		}
		t.Skip("NOT TESTED: python3-pika is missing: ", err)
	}
	return interpreter + " ../../../../testdata/targets/python/adapter.py " + bug
}

// TestExternalAsOneMachine checks a campaign with deterministic external clients. Its report must be byte for byte that
// of a single machine: verdicts, costs, traffic and counterexamples.
func TestExternalAsOneMachine(t *testing.T) {
	const scenarios = 30
	command := python(t, "release-closes-channel")
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q},
		"sample": {"properties": ["no-leak", "mutual-exclusion", "cheap-acquire"]}, "budget": {"executions": %d}, "shard": 7}`, command, scenarios)
	worked := make(chan error, 1)
	go func() {
		await(t, server, 0)
		worked <- queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "external", AllowExec: command, Workers: 2})
	}()
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, AllowExec: command})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-worked; err != nil {
		t.Error(err)
	}
	got := externalCard(t, out.Result)
	if !strings.Contains(got, "over the wire") || !strings.Contains(got, "a call sends") || !strings.Contains(got, "✗ violated") {
		t.Errorf("the campaign comes to\n%s\nexpected a violation, and what went over the wire", got)
	}
	for workers := 1; workers <= 2; workers++ {
		res, err := gated.Prove(t.Context(), gated.Config{
			Lock: gated.Lock{Starter: &subprocess.Starter{Command: command}, Exec: command, Kind: lock.Semaphore}, Sampling: engine.Sampling{Seed: 1, Scenarios: scenarios, Workers: workers},
			Judging: engine.Judging{Properties: property.Set(0).With(property.NoLeak).With(property.MutualExclusion).With(property.CheapAcquire)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := externalCard(t, res); got != want {
			t.Errorf("the campaign comes to\n%s\none machine with %d workers to\n%s", got, workers, want)
		}
	}
}

// TestClaimsOfACommand runs a campaign whose runner may not run the target's command. A violation that workers report
// must then be shown as suspected, and the runner must say so.
func TestClaimsOfACommand(t *testing.T) {
	command := python(t, "release-closes-channel")
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q},
		"sample": {"properties": ["cheap-acquire", "no-leak"]}, "budget": {"executions": 14}, "shard": 7}`, command)
	worked := make(chan error, 1)
	go func() {
		await(t, server, 0)
		worked <- queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "external", AllowExec: command, Workers: 1})
	}()
	var said []string
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: server, Options: campaign.Options{Said: func(s string) { said = append(said, s) }}})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-worked; err != nil {
		t.Error(err)
	}
	card := externalCard(t, out.Result)
	if !strings.Contains(card, "? suspected") || strings.Contains(card, "✗ violated") {
		t.Errorf("the campaign comes to\n%s", card)
	}
	expect(t, strings.Join(said, " "), "the command may not be run here, so it is suspected")
}

// externalCard returns a report without the counts that depend on timing.
func externalCard(t *testing.T, res *engine.Result) string {
	t.Helper()
	res.Report.Uncontrolled = nil
	return byThemselves.ReplaceAllString(enginetest.Card(t, res), "$1")
}

// byThemselves matches counts of traffic that depend on the machine's load. For example, a client that reopens a
// channel by itself may do so before or after the end of its execution.
var byThemselves = regexp.MustCompile(`(round trips|channel\.open)(?: |", "number": )[0-9]+`)

// TestAnotherTarget changes the script of a target. A worker with the changed script must be refused, and so must a
// runner that resumes the campaign. When the script is as before, the stored results are valid again.
func TestAnotherTarget(t *testing.T) {
	server := campaign.Server{URL: natstest.Start(t, "").URL}
	script := filepath.Join(t.TempDir(), "adapter.py")
	text := func(s string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text("print()")
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q}, "sample": {}, "budget": {"executions": 1}, "lease": "1s"}`, "cat "+script)
	broken := refusal(t, server, p) // creates the campaign; running it fails because its target is no adapter
	text("print(1)")
	expect(t, refusal(t, server, p), "another campaign external: its target's command or files are others")
	err := queue.Work(t.Context(), campaign.WorkConfig{Server: server, Name: "external", AllowExec: "cat " + script, Workers: 1})
	expect(t, err.Error(), "its target's command or files are others")
	if s, err := queue.Look(t.Context(), server, "external"); err != nil || s.Name != "external" {
		t.Errorf("looking at it says %+v, %v", s, err)
	}
	text("print()")
	if again := refusal(t, server, p); again != broken {
		t.Errorf("with the first target again: %s; at first: %s", again, broken)
	}
}

// TestClientsThatDie checks that a campaign stops if its clients end by themselves too often, as a run does.
func TestClientsThatDie(t *testing.T) {
	command := strings.Fields(python(t, ""))
	adapter, err := filepath.Abs(command[1])
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "dying.py")
	text := `import os, runpy, sys
class Dying:
    def __iter__(self):
        for line in sys.__stdin__:
            if '"verify"' in line and 'jobs' in line:
                os._exit(1)
            yield line
sys.path.insert(0, os.path.dirname(sys.argv[1]))
sys.stdin, sys.argv = Dying(), sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
`
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := plan(t, `{"lockproof": "campaign", "version": 1, "name": "external", "target": {"exec": %q}, "sample": {"properties": ["mutual-exclusion"]},
		"budget": {"executions": 1000}, "shard": 20}`, command[0]+" "+script+" "+adapter)
	out, err := queue.Run(t.Context(), campaign.RunConfig{Plan: p, Server: campaign.Server{Dir: filepath.Join(t.TempDir(), "queue")}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(out.Result.Report.Uncontrolled, "\n")
	if n := out.Result.Report.Scenarios; n > 250 || !strings.Contains(said, "clients ended by themselves") || !strings.Contains(said, "may differ") {
		t.Errorf("after %d executions it is said\n%s", n, said)
	}
}
