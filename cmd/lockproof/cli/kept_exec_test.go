//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptExec checks that later runs of a program repeat its stored counterexample, with the secrets that the file
// hides. A run must fail until the program is fixed.
func TestKeptExec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, out := filepath.Join(dir, "lock.sh"), filepath.Join(dir, "out")
	const few, many = " --scenarios 1 --clients 1 --admins 0", " --scenarios 5 --seed 7"
	for i, step := range []struct {
		bug, args string
		code      int
		says      string
	}{
		{"locked-is-success", many, exitViolated, "see it: lockproof replay --run-exec"},
		{"locked-is-success", few, exitViolated, "violated again, of an earlier run: "},
		{"", few, exitInconclusive, "passes now, of an earlier run: "},
		{"", few, exitInconclusive, "pass as before: 1 counterexample"},
		{"locked-is-success", few, exitViolated, "violated again, of an earlier run: "},
		{"locked-is-success", few + " -o colour=red", exitInconclusive, "1 property: 1 "},
	} {
		if err := os.WriteFile(lock, []byte(adapter(step.bug)), 0o644); err != nil {
			t.Fatal(err)
		}
		command := "LOCK_PASSWORD=sesame sh " + lock
		args := append([]string{"prove", "--exec", command, "--workers", "1", "--property", "mutual-exclusion", "--out", out}, strings.Fields(step.args)...)
		var said bytes.Buffer
		if code := run(args, &said, &said); code != step.code || !strings.Contains(strings.Join(strings.Fields(said.String()), " "), step.says) {
			t.Errorf("step %d: exit code %d, expected %d and %q: %s", i+1, code, step.code, step.says, said.String())
		}
	}
	for name, text := range laid(t, out) {
		if strings.Contains(text, "sesame") {
			t.Errorf("%s tells the secret", name)
		}
	}
}
