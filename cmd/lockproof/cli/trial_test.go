//go:build unix

package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lockproof/lockproof/adapters/engine"
)

// commandInPath puts a script named lockproof first in PATH, which runs this test binary.
func commandInPath(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asCommand, os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "lockproof"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// bash runs a script as a CI service does, and returns its exit code and output.
func bash(t *testing.T, script string) (code int, out string) {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	said, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Skip("NOT TESTED: ", err)
	}
	return cmd.ProcessState.ExitCode(), string(said)
}

// action has the parts of lockproof's GitHub action that the tests need.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Shell, Run string
			Env, With                      map[string]string
		}
	}
}

// theAction reads the action from its file. It must be called before the test changes the current folder.
func theAction(t *testing.T) (a action) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, ".github/actions/lockproof/action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// run carries out those steps of the action that do not need GitHub, in the current folder. It returns the exit code of
// the job, its output, and the folder with its files.
func (a action) run(t *testing.T, command string) (code int, out, temp string) {
	t.Helper()
	temp = t.TempDir()
	for name, value := range map[string]string{
		"COMMAND": command, "RUNNER_TEMP": temp, "GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"), "GITHUB_OUTPUT": filepath.Join(temp, "output"),
	} {
		t.Setenv(name, value)
	}
	ran, uploaded := false, false
	for _, step := range a.Runs.Steps {
		switch {
		case step.ID == "run":
			ran = true
			code, out = bash(t, step.Run)
		case strings.HasPrefix(step.Uses, "actions/upload-artifact@"):
			uploaded = step.If == "always()" && step.With["path"] == "${{ runner.temp }}/lockproof-report"
		}
	}
	if !ran || !uploaded {
		t.Error("a step is missing")
	}
	return code, out, temp
}

// has checks that files exist in a folder and are not empty.
func has(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// largestPage is the maximum size of a page without the explorer, in bytes.
const largestPage = 300_000

// TestAction runs the steps of the GitHub action in a clean folder. A violation must fail the job, and must be
// annotated. The job must leave its summary and its files.
func TestAction(t *testing.T) {
	a, kept := theAction(t), recordedOf(t, "locked-is-success")
	if a.Runs.Using != "composite" || a.Inputs["command"].Default != "prove" {
		t.Errorf("%+v", a)
	}
	for command, want := range map[string]int{"prove locked-is-success --scenarios 300": exitViolated, "prove --scenarios 300 -o 'retries=0'": exitHolds} {
		t.Chdir(t.TempDir())
		commandInPath(t)
		if err := os.MkdirAll("counterexamples/passed", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("counterexamples/passed/mine.json", []byte(kept), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, temp := a.run(t, command)
		if !strings.Contains(out, map[int]string{exitViolated: "/counterexamples/mine.json", exitHolds: "seed 1"}[want]) {
			t.Errorf("%s: it does not tell of an earlier run\n%s", command, out)
		}
		if code != want || strings.Contains(out, "::error title=mutual-exclusion is violated::") != (want == exitViolated) {
			t.Errorf("%s: exit code %d\n%s", command, code, out)
		}
		has(t, temp, "summary", "output", "lockproof-report/junit.xml", "lockproof-report/lockproof.sarif", "lockproof-report/page.html")
		if want == exitViolated {
			has(t, temp, "lockproof-report/counterexamples/locked-is-success.mutual-exclusion.json")
			if info, err := os.Stat(filepath.Join(temp, "lockproof-report/page.html")); err != nil || info.Size() > largestPage {
				t.Errorf("the page has %d bytes: expected at most %d", info.Size(), largestPage)
			}
		}
		if output, _ := os.ReadFile(filepath.Join(temp, "output")); string(output) != fmt.Sprintf("exit-code=%d\n", want) {
			t.Errorf("%s: %q", command, output)
		}
	}
}

// TestActionRunsNothingElse checks that shell syntax in the action's input is not executed. Commands without report
// flags must work, and an unclosed quote must be an error.
func TestActionRunsNothingElse(t *testing.T) {
	a := theAction(t)
	t.Chdir(t.TempDir())
	commandInPath(t)
	for command, want := range map[string]int{
		"prove --scenarios 10 $(touch pwned) `touch pwned` ; touch pwned": exitCannot, "list targets) ; touch pwned ; (": exitCannot,
		"list targets": exitHolds, "version": exitHolds, "help 'prove'": exitHolds, `atlas --help`: exitHolds,
	} {
		code, out, _ := a.run(t, command)
		if code != want {
			t.Errorf("%s: exit code %d, expected %d\n%s", command, code, want, out)
		}
		if _, err := os.Stat("pwned"); err == nil {
			t.Fatalf("%s: it was carried out", command)
		}
	}
	if code, _, _ := a.run(t, "prove 'semaphore"); code == exitHolds {
		t.Error("a quote without an end is taken")
	}
}

// TestActionsArePinned checks that the action and the CI templates name other actions by commit, and lockproof by
// version.
func TestActionsArePinned(t *testing.T) {
	for _, path := range []string{"../../../.github/actions/lockproof/action.yml", "start/ci/github.yml", "start/ci/gitlab.yml"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			_, used, uses := strings.Cut(line, "uses: ")
			if uses && !strings.HasSuffix(used, "lockproof@RELEASE") && !regexp.MustCompile(`@[0-9a-f]{40}( |$)`).MatchString(used) || strings.Contains(line, "@latest") || strings.Contains(line, "@main") {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
}

// TestNoCommandsOfClients checks output in a GitHub job. Text from clients must not act as a command of GitHub, but
// lockproof's own annotations must.
func TestNoCommandsOfClients(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "true")
	var out, errs bytes.Buffer
	code := run([]string{"prove", "locked-is-success", "--scenarios", "300", "--annotate", "--out", t.TempDir()}, &out, &errs)
	if code != exitViolated || !strings.Contains(out.String(), "\n::error title=mutual-exclusion is violated::") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
	out.Reset()
	errs.Reset()
	run([]string{"prove", "##[error]x\n::stop-commands::x"}, &out, &errs)
	if said := out.String() + errs.String(); strings.Contains(said, "##[") || strings.Contains(said, "\n::") || !strings.Contains(said, `##\u005berror`) {
		t.Errorf("it is said\n%s", said)
	}
	guarded := guarded(&out)
	fmt.Fprint(guarded, "::stop-commands::x\n")
	if strings.Contains(out.String(), "::stop") {
		t.Errorf("a client's line is %q", out.String())
	}
}

// gitlabJob is the job in the CI file that `init` writes for GitLab.
type gitlabJob struct {
	Image     string
	Script    []string
	Artifacts struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

func readGitLab(t *testing.T) gitlabJob {
	t.Helper()
	data, err := os.ReadFile(services["gitlab"])
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]gitlabJob
	if err := yaml.Unmarshal(data, &jobs); err != nil {
		t.Fatal(err)
	}
	return jobs["lockproof"]
}

// TestWrittenCI checks the CI files that `init` writes. They must be valid, install what the adapter needs, and run
// lockproof.
func TestWrittenCI(t *testing.T) {
	for _, l := range languages {
		words := []string{l.name}
		if l.server != "" {
			words = append(words, "--server", l.server)
		}
		begun(t, words...)
		data, err := os.ReadFile(services["github"])
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses, Run string
					With      map[string]string
				}
			}
		}
		if err := yaml.Unmarshal(data, &workflow); err != nil {
			t.Fatal(err)
		}
		steps := workflow.Jobs["lockproof"].Steps
		if len(steps) != 3 || steps[1].Run != l.setup["github"] || steps[2].Uses != "lockproof/lockproof/.github/actions/lockproof@v"+engine.Version || steps[2].With["command"] != "prove" {
			t.Errorf("%s: %+v", l.name, steps)
		}

		begun(t, append(words, "--ci", "gitlab")...)
		job := readGitLab(t)
		if job.Artifacts.When != "always" || job.Artifacts.Reports["junit"] != "lockproof-report/junit.xml" || job.Artifacts.Paths[0] != "lockproof-report" || job.Script[0] != l.setup["gitlab"] {
			t.Errorf("%s: %+v", l.name, job)
		}
	}
}

var allTrials = flag.Bool("all-trials", false, "have each library judged on each service, as many scenarios as init writes")

// trials are edits that put a common bug into an adapter: if an acquire is refused because another client has the lock,
// the adapter's client believes that it holds the lock.
var trials = map[string]struct{ file, right, wrong string }{
	"python": {"lockproof/adapter.py", "                raise\n            self.channel()\n", "                raise\n            self.channel()\n            self.held = True\n"},
	"go":     {"lockproof/adapter.go", "\t\t_, err = l.channel()\n\t\treturn false, err\n", "\t\t_, err = l.channel()\n\t\tl.held = err == nil\n\t\treturn l.held, err\n"},
}

// TestTrial does in a clean folder what the documentation says, with a library that has a bug: it creates a project,
// runs what CI runs, and reads the page. The jobs of GitHub and GitLab must fail, and the page must explain the bug.
// Steps that need the service itself are left out. The duration is logged.
func TestTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes programs")
	}
	a := theAction(t)
	for name, bug := range trials {
		for _, service := range []string{"github", "gitlab"} {
			t.Run(name+"/"+service, func(t *testing.T) {
				if !*allTrials && (name == "go") != (service == "github") {
					t.Skip("skipped: -all-trials tries each library on each service")
				}
				began := time.Now()
				begun(t, name, "--ci", service)
				t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // on a CI machine no program has been permitted yet
				commandInPath(t)
				switch name {
				case "python":
					takes(t, "apt-get install python3-pika", "/usr/bin/python3", "-c", "import pika")
					t.Setenv("PATH", filepath.Dir(lookUp(t, "lockproof"))+":/usr/bin:"+os.Getenv("PATH"))
				case "go":
					t.Setenv("GOFLAGS", "-mod=mod")
				}
				edit(t, bug.file, bug.right, bug.wrong)
				if !*allTrials {
					edit(t, configFile, "scenarios: 500", "scenarios: 30")
				}
				if name == "go" {
					if code, out := bash(t, buildGo); code != 0 {
						t.Skipf("NOT TESTED: the adapter's modules can't be had: %s", out)
					}
				}
				var code int
				var out, report string
				if service == "github" {
					code, out, report = a.run(t, "prove")
					report = filepath.Join(report, "lockproof-report")
					if want := "::error file=" + bug.file + ",line=1,title=mutual-exclusion is violated::"; !strings.Contains(out, want) {
						t.Errorf("no annotation %q\n%s", want, out)
					}
				} else {
					code, out = bash(t, strings.Join(readGitLab(t).Script[1:], "\n"))
					report = "lockproof-report"
				}
				if code != exitViolated {
					t.Fatalf("exit code %d\n%s", code, out)
				}
				has(t, report, "junit.xml", "page.html", "counterexamples")
				page, err := os.ReadFile(filepath.Join(report, "page.html"))
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{"405 RESOURCE_LOCKED", "was told that it holds the lock", "the queue is exclusive to another connection"} {
					if !strings.Contains(string(page), want) {
						t.Errorf("the page does not say %q", want)
					}
				}
				t.Logf("from nothing to a red job with a page: %.1f s", time.Since(began).Seconds())
			})
		}
	}
}

func lookUp(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// edit replaces a text that occurs exactly once in a file.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(data), old) != 1 {
		t.Fatalf("%s: %q stands there %d times, expected once", file, old, strings.Count(string(data), old))
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
