package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuote checks that a shell reads a quoted word as the original word.
func TestQuote(t *testing.T) {
	words := []string{
		"", "plain", "-o", "retries=0", "a b", "it's", `"$HOME" \n`, "*?[x]{a,b}~", "a;b|c&d<e>f(g)", "#!`id`", "tab\tline\nend", "\x1b[31m", "^a%b", "ärger",
	}
	for _, word := range words {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is typed as %s, which is %q: %v", word, quote(word), out, err)
		}
	}
}

// TestFilesOfRuns checks that runs with different options write their counterexamples to different files.
func TestFilesOfRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prove := func(args string) {
		var out, errs bytes.Buffer
		if code := run(append(strings.Fields(args), "--out", dir), &out, &errs); code == exitCannot {
			t.Fatalf("%s: %s", args, errs.String())
		}
	}
	prove("prove locked-is-success --scenarios 300")
	plain := filepath.Join(dir, "locked-is-success.mutual-exclusion.json")
	found, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	prove("prove locked-is-success --scenarios 300 -o retries=0")
	if _, err := os.Stat(filepath.Join(dir, "locked-is-success.retries-0.mutual-exclusion.json")); err != nil {
		t.Error(err)
	}
	prove("prove locked-is-success --scenarios 300 --clients 2 --admins 0 --strict")
	if _, err := os.Stat(filepath.Join(dir, "locked-is-success.clients-2_admins-0_strict-true.mutual-exclusion.json")); err != nil {
		t.Error(err)
	}
	if again, err := os.ReadFile(plain); err != nil || !bytes.Equal(again, found) {
		t.Errorf("a run with other options changed the file: %v", err)
	}
}
