//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// begun is a new project with a starting adapter, in which we are from then on.
func begun(t *testing.T, args ...string) {
	t.Helper()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run(append([]string{"init", args[0], dir}, args[1:]...), &out, &errs); code != exitHolds || !strings.Contains(out.String(), "lockproof adapter-check") {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	t.Chdir(dir)
}

// takes skips a test that takes a program which is not here; with LOCKPROOF_REQUIRE_EXAMPLES=1 it fails.
func takes(t *testing.T, install, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		say := fmt.Sprintf("NOT TESTED: %s: %v %s; install it by %s", program, err, out, install)
		if os.Getenv("LOCKPROOF_REQUIRE_EXAMPLES") == "1" {
			t.Fatal(say)
		}
		t.Skip(say)
	}
}

// TestInit: in each language, adapter-check is green at once with what was written, and prove judges it.
func TestInit(t *testing.T) {
	modules, err := filepath.Abs("../../../testdata/targets/node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(t *testing.T){
		"python": func(t *testing.T) {
			takes(t, "apt-get install python3-pika", "/usr/bin/python3", "-c", "import pika")
			t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
		},
		"node": func(t *testing.T) {
			t.Setenv("NODE_PATH", modules)
			takes(t, "npm ci --prefix testdata/targets/node", "node", "-e", "require('amqplib')")
		},
		"go": func(t *testing.T) {
			build := exec.Command("sh", "-c", "cd lockproof && go mod tidy && go build -o adapter .")
			build.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
			if out, err := build.CombinedOutput(); err != nil {
				t.Skipf("NOT TESTED: the adapter's modules can't be had: %v %s", err, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("skipped: -short leaves out what takes programs")
			}
			begun(t, name)
			prepare(t)
			var out, errs bytes.Buffer
			if code := run([]string{"adapter-check"}, &out, &errs); code != exitHolds || !strings.Contains(out.String(), "17 green, 0 red") {
				t.Fatalf("adapter-check: exit code %d\n%s%s", code, out.String(), errs.String())
			}
			out.Reset()
			if code := run([]string{"prove", "--scenarios", "60", "--require", "mutual-exclusion"}, &out, &errs); code != exitHolds {
				t.Errorf("prove: exit code %d\n%s%s", code, out.String(), errs.String())
			}
		})
	}
}

// TestInitWritesNothingOver: what is there stays, and then nothing is written.
func TestInitWritesNothingOver(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(configFile, []byte("prove:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"init python": ".lockproof.yaml: it is there already", "init rust": `"rust": expected one of python, node, go`,
		"init python x --ci jenkins": `--ci "jenkins": expected github, gitlab or none`,
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), &out, &errs); code != exitCannot || !strings.Contains(errs.String(), says) {
			t.Errorf("%s: exit code %d, %s", args, code, errs.String())
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// commandInPath makes this test binary the lockproof that scripts find, with an adapter that has a bug or none.
func commandInPath(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asCommand, os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "lockproof"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// bash runs a script as CI does, and returns its exit code and output.
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

// TestAction: the steps of the action that need no service, in a clean folder: a violation fails the job, is annotated, is
// in the summary, and leaves its files.
func TestAction(t *testing.T) {
	data, err := os.ReadFile("../../../.github/actions/lockproof/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Name, ID, If, Uses, Shell, Run string
				Env, With                      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || action.Inputs["command"].Default != "prove" {
		t.Errorf("%+v", action)
	}
	for command, want := range map[string]int{"prove locked-is-success --scenarios 300": exitViolated, "prove --scenarios 300 -o 'retries=0'": exitHolds} {
		t.Chdir(t.TempDir())
		commandInPath(t)
		temp := t.TempDir()
		for name, value := range map[string]string{
			"COMMAND": command, "RUNNER_TEMP": temp, "GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"), "GITHUB_OUTPUT": filepath.Join(temp, "output"),
		} {
			t.Setenv(name, value)
		}
		ran, uploaded := false, false
		for _, step := range action.Runs.Steps {
			switch {
			case step.ID == "run":
				ran = true
				code, out := bash(t, step.Run)
				if code != want || strings.Contains(out, "::error title=mutual-exclusion is violated::") != (want == exitViolated) {
					t.Errorf("%s: exit code %d\n%s", command, code, out)
				}
			case strings.HasPrefix(step.Uses, "actions/upload-artifact@"):
				uploaded = step.If == "always()" && step.With["path"] == "${{ runner.temp }}/lockproof-report"
			}
		}
		if !ran || !uploaded {
			t.Error("a step is missing")
		}
		files := []string{"summary", "output", "lockproof-report/junit.xml", "lockproof-report/lockproof.sarif", "lockproof-report/page.html"}
		if want == exitViolated {
			files = append(files, "lockproof-report/counterexamples/locked-is-success.mutual-exclusion.json")
		}
		for _, name := range files {
			if info, err := os.Stat(filepath.Join(temp, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", command, name, err)
			}
		}
		if output, _ := os.ReadFile(filepath.Join(temp, "output")); string(output) != fmt.Sprintf("exit-code=%d\n", want) {
			t.Errorf("%s: %q", command, output)
		}
	}
}

// TestWrittenCI: what init writes for CI is well-formed and begins what the action or lockproof itself takes; the script for
// GitLab runs in a clean folder.
func TestWrittenCI(t *testing.T) {
	begun(t, "python")
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
	if len(steps) != 3 || steps[1].Run != "pip install pika" || steps[2].Uses != "lockproof/lockproof/.github/actions/lockproof@main" || steps[2].With["command"] != "prove" {
		t.Errorf("%+v", steps)
	}

	begun(t, "python", "--ci", "gitlab")
	if data, err = os.ReadFile(services["gitlab"]); err != nil {
		t.Fatal(err)
	}
	var jobs map[string]struct {
		Before    []string `yaml:"before_script"`
		Script    []string
		Artifacts struct {
			When    string
			Reports map[string]string
		}
	}
	if err := yaml.Unmarshal(data, &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs["lockproof"]
	if job.Artifacts.When != "always" || job.Artifacts.Reports["junit"] != "lockproof-report/junit.xml" || len(job.Script) != 4 || job.Script[0] != "pip install pika" {
		t.Fatalf("%+v", job)
	}
	commandInPath(t)
	if err := os.WriteFile(configFile, fmt.Appendf(nil, "adapter-check:\n  exec: %q\nprove:\n  exec: %[1]q\n  scenarios: 4\n  property: mutual-exclusion\n", adapter("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out := bash(t, strings.Join(append(job.Before, job.Script[1:]...), "\n")); code != exitHolds {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(job.Artifacts.Reports["junit"]); err != nil {
		t.Error(err)
	}
}

// TestReleases: what releases are made by is well-formed, and builds what there is.
func TestReleases(t *testing.T) {
	data, err := os.ReadFile("../../../.github/goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Version int
		Builds  []struct {
			Main, Binary string
			Flags        []string
		}
	}
	if err := yaml.Unmarshal(data, &release); err != nil || len(release.Builds) != 2 {
		t.Fatalf("%+v %v", release, err)
	}
	docker, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, build := range release.Builds {
		if _, err := os.Stat(filepath.Join("../../..", build.Main, "main.go")); err != nil || filepath.Base(build.Main) != build.Binary || len(build.Flags) != 1 || build.Flags[0] != "-trimpath" {
			t.Errorf("%+v: %v", build, err)
		}
		if !strings.Contains(string(docker), build.Main) {
			t.Errorf("the image has no %s", build.Binary)
		}
	}
}
