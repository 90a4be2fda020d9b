//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// begun creates a new project with an adapter, and makes its folder the current one.
func begun(t *testing.T, args ...string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // for the remembered permission to run the program
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run(append([]string{"init", args[0], dir}, args[1:]...), &out, &errs); code != exitHolds || !strings.Contains(out.String(), "lockproof adapter-check") {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	t.Chdir(dir)
}

// takes skips a test if a command that the test needs fails. With LOCKPROOF_REQUIRE_EXAMPLES=1 the test fails instead.
func takes(t *testing.T, install, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("%s: %v %s; install it by %s", program, err, out, install))
	}
}

// missing skips a test because something is missing. With LOCKPROOF_REQUIRE_EXAMPLES=1 the test fails instead.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("LOCKPROOF_REQUIRE_EXAMPLES") == "1" {
		t.Fatal("NOT TESTED: " + what)
	}
	t.Skip("NOT TESTED: " + what)
}

// TestInit creates a project in each language. adapter-check must be green without changes, and prove must judge the
// adapter.
func TestInit(t *testing.T) {
	modules, err := filepath.Abs("../../../testdata/targets/node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	debian := "PATH=/usr/bin:" + os.Getenv("PATH") // the drivers are installed as Debian packages
	for words, language := range map[string]struct {
		env              []string
		prepare, install string
	}{
		"python":                {[]string{debian}, "python3 -c 'import pika'", "apt-get install python3-pika"},
		"python --server redis": {nil, "/usr/bin/python3 -c 'import redis' && redis-server --version && gcc --version", installRedis},
		"node":                  {[]string{"NODE_PATH=" + modules}, `node -e "require('amqplib')"`, "npm ci --prefix testdata/targets/node"},
		"java":                  {nil, buildJava, "apt-get install default-jdk-headless librabbitmq-client-java"},
		"ruby":                  {[]string{debian}, "ruby -e \"require 'bunny'\"", "apt-get install ruby-bunny"},
		"go":                    {[]string{"GOFLAGS=-mod=mod"}, buildGo, "go mod download"},
	} {
		t.Run(words, func(t *testing.T) {
			if testing.Short() {
				t.Skip("skipped: -short leaves out what takes programs")
			}
			t.Parallel()
			dir := t.TempDir()
			// lockproof stores the permission to run the adapter below XDG_CONFIG_HOME.
			env := append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), asCommand+"=1")
			env = append(env, language.env...)
			typed := func(args ...string) (code int, said string) {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState == nil {
					t.Fatal(err)
				}
				return cmd.ProcessState.ExitCode(), string(out)
			}
			if code, said := typed(append([]string{os.Args[0], "init"}, strings.Fields(words)...)...); code != exitHolds || !strings.Contains(said, "lockproof adapter-check") {
				t.Fatalf("init: exit code %d: %s", code, said)
			}
			if code, said := typed("sh", "-c", language.prepare); code != 0 {
				missing(t, fmt.Sprintf("%s: exit code %d %s; install it by %s", language.prepare, code, said, language.install))
			}
			if code, said := typed(os.Args[0], "adapter-check"); code != exitHolds || !strings.Contains(said, " green, 0 red") {
				t.Fatalf("adapter-check: exit code %d\n%s", code, said)
			}
			if code, said := typed(os.Args[0], "prove", "--scenarios", "8", "--require", "mutual-exclusion,crash-frees"); code != exitHolds {
				t.Errorf("prove: exit code %d\n%s", code, said)
			}
			if code, said := typed(os.Args[0], "prove", "--scenarios", "8", "--property", "mutual-exclusion"); code != exitHolds {
				t.Errorf("prove --property: exit code %d\n%s", code, said)
			}
		})
	}
}

// TestInitGoTest checks that `init go` beside Go code writes a test of that package which judges a lock.
func TestInitGoTest(t *testing.T) {
	clone, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := lay(t, map[string]string{"go.mod": "module example.com/mine\n\ngo 1.26\n", "lock.go": "package mine\n"})
	t.Chdir(dir)
	var out, errs bytes.Buffer
	if code := run([]string{"init", "go", "--ci", "none"}, &out, &errs); code != exitHolds || !strings.Contains(out.String(), "go test -run TestLock .") {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	text, err := os.ReadFile(goTest)
	if err != nil || !strings.HasPrefix(string(text), "package mine_test\n") {
		t.Fatalf("%v: %.40s", err, text)
	}
	if said := out.String(); !strings.Contains(said, "go mod tidy\n    go test") || !strings.Contains(said, "it is the gate of Go code") {
		t.Errorf("%s", said)
	}
	if testing.Short() {
		return
	}
	takes(t, "go mod download", "sh", "-c", "go mod edit -require github.com/lockproof/lockproof@v0.0.0 -replace github.com/lockproof/lockproof="+clone+" && go mod tidy")
	if out, err := exec.Command("go", "test", "-short", "-run", "TestLock", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestInitGoCI checks that the CI file beside Go code runs go test first, and then lockproof prove.
func TestInitGoCI(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for service, want := range map[string]string{"github": "\n      - run: go test ./...\n      - uses: lockproof", "gitlab": "\n    - go test ./...\n    - command -v"} {
		t.Chdir(lay(t, map[string]string{"go.mod": "module example.com/mine\n\ngo 1.26\n"}))
		var out bytes.Buffer
		if code := run([]string{"init", "go", "--ci", service}, &out, &out); code != exitHolds {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
		if text, err := os.ReadFile(services[service]); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", service, err, text)
		}
	}
}

// TestInitLeavesAdapter checks that an existing adapter is kept, and that the other files are written. The adapter's
// program must not be permitted by this.
func TestInitLeavesAdapter(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Chdir(lay(t, map[string]string{"lockproof/adapter.py": "mine"}))
	var out bytes.Buffer
	if code := run([]string{"init", "python"}, &out, &out); code != exitHolds || !strings.Contains(out.String(), "left lockproof/adapter.py, which is there already") {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	text, err := os.ReadFile("lockproof/adapter.py")
	if _, missing := os.Stat(configFile); err != nil || string(text) != "mine" || missing != nil {
		t.Errorf("%v, %v: %s", err, missing, text)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("the program may be run: %v %v", entries, err)
	}
}

// TestInitWritesNothingOver checks that nothing at all is written if a file exists already.
func TestInitWritesNothingOver(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(configFile, []byte("prove:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"init python": ".lockproof.yaml: it is there already", "init rust": `"rust": expected one of python, node, go, java, ruby`,
		"init node --server redis":   `node --server "redis": expected python --server redis, or no --server`,
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

// TestReleases checks the configuration of releases: each program that it builds must exist, and must be in the Docker
// image.
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
	if err := yaml.Unmarshal(data, &release); err != nil || len(release.Builds) != 3 {
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
