//go:build unix

package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestProgramDoesNotStart checks a program that fails at its start. The exit code must say that the run failed, and the
// program's standard error must be shown once.
func TestProgramDoesNotStart(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, command := range []string{"prove --scenarios 5", "adapter-check"} {
		var out, errs bytes.Buffer
		code := run(append(strings.Fields(command), "--exec", "echo of no use >&2; exit 3"), &out, &errs)
		if code != exitCannot || strings.Count(errs.String(), "of no use\n") != 1 {
			t.Errorf("%s: exit code %d: %s%s", command, code, out.String(), errs.String())
		}
	}
}

// TestArgumentsAreNamed checks that an error names the missing or surplus argument, and where the program in a file of
// flags is named.
func TestArgumentsAreNamed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	if err := os.WriteFile(configFile, []byte("prove:\n  exec: ./mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"accept": "FILE is missing: expected lockproof accept FILE\n", "check": "FILE is missing: expected lockproof check FILE...\n",
		"init": "python|node|go|java|ruby is missing", "replay a b": `"b" is one argument too many: expected lockproof replay FILE`,
		"prove": ".lockproof.yaml:2: the program that it names is not run",
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(command), &out, &errs); code != exitCannot || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d: %s, expected %q", command, code, errs.String(), want)
		}
	}
}
