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

// begun is a new project with a starting adapter, in which we are from then on.
func begun(t *testing.T, args ...string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // where it is remembered that the program may be run
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
		"java": func(t *testing.T) {
			takes(t, "apt-get install default-jdk-headless librabbitmq-client-java", "sh", "-c", buildJava)
		},
		"ruby": func(t *testing.T) {
			takes(t, "apt-get install ruby-bunny", "/usr/bin/ruby", "-e", "require 'bunny'")
			t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
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
			if code := run([]string{"prove", "--scenarios", "20", "--require", "mutual-exclusion,crash-frees"}, &out, &errs); code != exitHolds {
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
		"init python": ".lockproof.yaml: it is there already", "init rust": `"rust": expected one of python, node, go, java, ruby`,
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
