package lockproof_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What lockproof.Test finds wrong with a lock is a failing subtest of the property that the bug breaks,
// with a diagram and a command that shows it again.
func TestTestFails(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs another test, for each bug")
	}
	binary := filepath.Join(t.TempDir(), "golang.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "./testdata/targets/golang")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for bug, property := range map[string]string{
		"not-mandatory":          "linearizable",
		"return-ignored":         "linearizable",
		"verify-reconnects":      "stale-belief-ends",
		"release-closes-channel": "effective-release",
		"locked-is-success":      "mutual-exclusion",
	} {
		t.Run(bug, func(t *testing.T) {
			dir := t.TempDir()
			said := failing(t, binary, dir, "BUG="+bug)
			for _, want := range []string{"--- FAIL: TestBug/" + property + " ", "┏ ┗ call and return", "violated in scenario"} {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			replay := regexp.MustCompile(`LOCKPROOF_REPLAY=(\S+) go test -run '\^TestBug\$' \.`).FindStringSubmatch(said)
			if replay == nil {
				t.Fatalf("it does not say how to see it again:\n%s", said)
			}
			if again := failing(t, binary, dir, "BUG="+bug, "LOCKPROOF_REPLAY="+replay[1]); !strings.Contains(again, property+": violated again") {
				t.Errorf("its counterexample does not replay:\n%s", again)
			}
		})
	}
}

// failing runs a test that fails, in a directory of its own, and is what it says.
func failing(t *testing.T, binary, dir string, env ...string) string {
	t.Helper()
	cmd := exec.Command(binary, "-test.short", "-test.run", "^TestBug$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it passes:\n%s", out)
	}
	return string(out)
}
