package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
)

// execCounterexample writes a counterexample file that names a program, and returns its path.
func execCounterexample(t *testing.T, command string) (path string) {
	t.Helper()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run([]string{"prove", "locked-is-success", "--scenarios", "100", "--out", dir}, &out, &errs); code != exitViolated {
		t.Fatalf("exit code %d; %s", code, errs.String())
	}
	path = filepath.Join(dir, "locked-is-success.mutual-exclusion.json")
	ce, err := histories.LoadCounterexample(path)
	if err != nil {
		t.Fatal(err)
	}
	ce.Exec = command
	if err := ce.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReplayRunsNothingUnasked checks that the program which a file names runs only with --run-exec. Without it, the
// command must be shown.
func TestReplayRunsNothingUnasked(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "was-here")
	path := execCounterexample(t, "touch '"+marker+"' # \x1b[2K\x1b[1A innocent")
	ran := func() bool { _, err := os.Stat(marker); return err == nil }

	var out, errs bytes.Buffer
	if code := run([]string{"replay", path}, &out, &errs); code != exitCannot || ran() {
		t.Errorf("exit code %d, run: %v", code, ran())
	}
	said := errs.String()
	for _, want := range []string{"touch '" + marker + `' # \x1b[2K\x1b[1A innocent`, "type: lockproof replay --run-exec " + path} {
		if !strings.Contains(said, want) || strings.Count(said, "\n") != 1 || strings.Contains(said, "\x1b") {
			t.Errorf("%q: expected one line with %q", said, want)
		}
	}
	if code := run([]string{"replay", "--run-exec", path}, &out, &errs); code != exitCannot || !ran() {
		t.Errorf("exit code %d, run: %v", code, ran())
	}
}

// TestAsk checks that every answer other than yes counts as no.
func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Yes\r\n": true, " y ": true, "\n": false, "": false, "no\n": false, "yes please\n": false} {
		var out bytes.Buffer
		got, err := ask(t.Context(), strings.NewReader(answer), &out, "Really? ")
		if err != nil || got != want || out.String() != "Really? " {
			t.Errorf("%q: %v, %v, %q", answer, got, err, out.String())
		}
	}
	if got, err := ask(t.Context(), iotest.ErrReader(os.ErrClosed), &bytes.Buffer{}, ""); got || err != nil {
		t.Errorf("nobody there: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	if got, err := ask(ctx, r, &bytes.Buffer{}, ""); got || err == nil {
		t.Errorf("interrupted: %v, %v", got, err)
	}
}

// TestReplayPage checks that the page of a replay shows the verdict, lockproof's version, and the command that repeats
// the replay.
func TestReplayPage(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	if code := run([]string{"replay", found(t), "--html", page}, &out, &errs); code != exitViolated {
		t.Fatalf("exit code %d; %s", code, errs.String())
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	verdict := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, want := range []string{"<dt>lockproof</dt><dd>" + engine.Version, "<dt>command</dt><dd><code>lockproof", "<dt>server</dt><dd>the simulated broker", `class="cause"`, verdict[len(verdict)-1]} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("%q is not on the page", want)
		}
	}
}
