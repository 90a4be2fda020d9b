package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/cmd/lockproof/campaign"
)

// TestInputsStay checks that no command overwrites a file that the command line names as an input, even through links.
func TestInputsStay(t *testing.T) {
	recorded, err := os.ReadFile("../../../testdata/counterexamples/verify-twice.cheap-verify.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	const history = `{"type":"invoke","process":0,"f":"acquire"}` + "\n" + `{"type":"ok","process":0,"f":"acquire","value":1}` + "\n"
	files := map[string]string{"h.jsonl": history, "c.json": string(recorded), "adapter.py": "# mine\n", configFile: "prove:\n  seed: 1\n"}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("h.jsonl", "symbolic"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("h.jsonl", "hard"); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"check h.jsonl --html h.jsonl", "check h.jsonl --html ./h.jsonl", "check h.jsonl --html symbolic", "check h.jsonl --html hard",
		"check hard --junit h.jsonl", "check symbolic --summary h.jsonl", "check h.jsonl --sarif " + filepath.Join(dir, "h.jsonl"),
		"check h.jsonl --html missing/../h.jsonl", "check h.jsonl --summary missing/../h.jsonl", "replay c.json --html missing/../c.json",
		"replay c.json --html c.json", "prove --exec python3\u00a0adapter.py --html adapter.py", "prove --scenarios 1 --html " + configFile,
		"explore --resume c.json --html c.json",
	} {
		args := strings.Split(command, " ")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\u00a0", " ")
		}
		var out bytes.Buffer
		if code := run(args, &out, &out); code != exitCannot || !strings.Contains(out.String(), "name another file") && !strings.Contains(out.String(), "name one file") && !strings.Contains(command, "/../") {
			t.Errorf("%s: exit code %d: %s", command, code, out.String())
		}
		for name, want := range files {
			if text, err := os.ReadFile(name); err != nil || string(text) != want {
				t.Fatalf("%s: %s has %q, %v", command, name, text, err)
			}
		}
	}
}

// TestProgramsAreAsked checks that a program which only a file names is not run without a terminal, unless the command
// line permits it.
func TestProgramsAreAsked(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	t.Chdir(dir)
	const command = "touch ran; exec cat"
	hash := campaign.ExecHash(command)
	files := map[string]string{
		configFile:      "prove:\n  exec: " + command + "\nexplore:\n  exec: " + command + "\nadapter-check:\n  exec: " + command + "\n",
		"stranger.json": `{"lockproof":"campaign","version":1,"name":"stranger","target":{"exec":"` + command + `"},"sample":{"seed":1},"budget":{"executions":10}}`,
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for command, says := range map[string]string{
		"prove": "type: lockproof prove --config .lockproof.yaml", "explore": "type: lockproof explore --config", "adapter-check": "type: lockproof adapter-check --config",
		"campaign run stranger.json": "type: lockproof campaign run stranger.json --allow-exec " + hash, "campaign run stranger.json --allow-exec cat": "give --allow-exec " + hash,
	} {
		var out bytes.Buffer
		if code := run(strings.Fields(command), &out, &out); code != exitCannot || !strings.Contains(out.String(), says) {
			t.Errorf("%s: exit code %d, expected %q: %s", command, code, says, out.String())
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Fatal("a program was run that nobody typed")
	}
	for _, command := range []string{"prove --scenarios 1 --config .lockproof.yaml", "campaign run stranger.json --allow-exec " + hash} {
		var out bytes.Buffer
		run(strings.Fields(command), &out, &out)
		if err := os.Remove("ran"); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out.String())
		}
	}
}

// TestConfigStaysInside checks that a file of flags can name output files in its own folder only, even through links.
func TestConfigStaysInside(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(t.TempDir(), "clone")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Symlink(outside, "link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "file"), "new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git", "git"); err != nil {
		t.Fatal(err)
	}
	for value, inside := range map[string]bool{
		"page.html": true, "sub/../page.html": true, "../victim": false, filepath.Join(outside, "x"): false, "link/x": false, "new": false, ".git/config": false, "mine/../.git/x": false, "git/x": false,
	} {
		for _, flag := range []string{"html", "junit", "summary"} {
			if err := os.WriteFile(configFile, []byte("prove:\n  scenarios: 1\n  "+flag+": "+value+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			var code int
			said := capture(t, func() { code = run([]string{"prove"}, &out, &out) })
			if !inside && (code != exitCannot || !strings.Contains(out.String(), "outside the folder")) || inside && !strings.Contains(said, flag+": "+value) {
				t.Errorf("%s: %s: exit code %d: %s%s", flag, value, code, said, out.String())
			}
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("%v is outside; %v", left, err)
	}
}

// TestFormsStay checks that an output overwrites only a file of the same kind, so that other files are safe. A run may
// overwrite the output of the last run.
func TestFormsStay(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"a.sh": "exec cat # lockproof prove\n", "b.sh": "#!/bin/sh\nexec cat\n", "h.jsonl": `{"type":"invoke","process":0,"f":"acquire"}` + "\n", "mine.html": "<!doctype html>\n<title>lockproof</title>\n", "n.md": "# notes\n\nof lockproof 1 and mine\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	nested := []string{"prove", "--exec", "sh -c 'sh a.sh'"}
	for _, args := range [][]string{
		append(nested, "--html", "a.sh"), append(nested, "--junit", "a.sh"), append(nested, "--sarif", "a.sh"), append(nested, "--summary", "b.sh"),
		{"prove", "--html", "h.jsonl"}, {"prove", "--html", "mine.html"}, {"prove", "--sarif", "h.jsonl"}, {"prove", "--summary", "h.jsonl"}, {"explore", "--checkpoint", "a.sh"}, {"atlas", "--markdown", "n.md"},
	} {
		var out bytes.Buffer
		if code := run(args, &out, &out); code != exitCannot || !strings.Contains(out.String(), "name another file") {
			t.Errorf("%q: exit code %d: %s", args, code, out.String())
		}
		for name, want := range files {
			if text, err := os.ReadFile(name); err != nil || string(text) != want {
				t.Fatalf("%q: %s has %q, %v", args, name, text, err)
			}
		}
	}
	if err := os.WriteFile("page.html", nil, 0o644); err != nil { // an empty file, as mktemp creates
		t.Fatal(err)
	}
	for range 2 {
		for _, command := range []string{
			"prove --scenarios 1 --html page.html --junit j.xml --sarif s.json --summary s.md --out ce", "explore mutex --depth 2 --checkpoint search",
			"compare mutex --on simulated --markdown c.md --html c.html",
		} {
			var out bytes.Buffer
			if code := run(strings.Fields(command), &out, &out); code == exitCannot {
				t.Errorf("%s: exit code %d: %s", command, code, out.String())
			}
		}
	}
}

// TestFoldersStay checks folders and files whose names come from lockproof or from a file of flags. If such a name is a
// link, nothing may be written to the link's target.
func TestFoldersStay(t *testing.T) {
	outside, dir := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	for _, path := range []string{filepath.Join(dir, "sub"), filepath.Join(outside, "deep")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for link, to := range map[string]string{
		"counterexamples": outside, "sub/out": outside, "sub/deep": filepath.Join(outside, "deep"), "lockproof": outside, ".github": filepath.Join(outside, "new"),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		"sub/out.yaml":    "prove:\n  out: sub/out\n",
		"sub/new.yaml":    "prove:\n  out: sub/out/new\n",
		"sub/page.yaml":   "prove:\n  html: sub/deep/../page.html\n",
		"sub/append.yaml": "prove:\n  summary: sub/deep/../page.md\n",
		"sub/check.yaml":  "explore:\n  checkpoint: sub/x\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]int{
		"prove locked-is-success --scenarios 300": exitCannot, "init python --ci none": exitCannot, "init ruby": exitCannot,
		"prove locked-is-success --scenarios 300 --config sub/out.yaml": exitCannot, "prove locked-is-success --scenarios 300 --config sub/new.yaml": exitCannot,
		"prove --scenarios 1 --out mine --config sub/page.yaml": exitCannot, "prove --scenarios 1 --out mine --config sub/append.yaml": exitCannot,
		"explore --config sub/check.yaml": exitCannot,
	} {
		var out bytes.Buffer
		if code := run(strings.Fields(command), &out, &out); code != want {
			t.Errorf("%s: exit code %d, expected %d: %s", command, code, want, out.String())
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("%v is outside; %v", left, err)
	}
	if _, err := os.Stat(configFile); err == nil {
		t.Error("init wrote some of its files, and not all")
	}
	var out bytes.Buffer // a path that the user types may be a link
	if code := run(strings.Fields("prove locked-is-success --scenarios 300 --out counterexamples"), &out, &out); code != exitViolated {
		t.Errorf("exit code %d: %s", code, out.String())
	}
	if left, err := filepath.Glob(filepath.Join(outside, "*.json")); err != nil || len(left) == 0 {
		t.Errorf("nothing is where --out leads; %v", err)
	}
}
