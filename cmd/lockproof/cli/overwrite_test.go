package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputsStay: no command overwrites a file that the command line names for something else, by whatever links.
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
		"replay c.json --html c.json", "prove --exec python3\u00a0adapter.py --html adapter.py", "prove --scenarios 1 --html " + configFile,
		"explore --resume c.json --html c.json",
	} {
		args := strings.Split(command, " ")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\u00a0", " ")
		}
		var out bytes.Buffer
		if code := run(args, &out, &out); code != exitCannot || !strings.Contains(out.String(), "name another file") && !strings.Contains(out.String(), "name one file") {
			t.Errorf("%s: exit code %d: %s", command, code, out.String())
		}
		for name, want := range files {
			if text, err := os.ReadFile(name); err != nil || string(text) != want {
				t.Fatalf("%s: %s has %q, %v", command, name, text, err)
			}
		}
	}
}

// TestConfigStaysInside: a file of flags has files written in its own folder only, by whatever links.
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
	for value, inside := range map[string]bool{
		"page.html": true, "sub/../page.html": true, "../victim": false, filepath.Join(outside, "x"): false, "link/x": false, "new": false,
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
