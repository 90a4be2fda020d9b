//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestInputsAreFiles checks that a device, a pipe, a folder or a sparse file of a terabyte is refused at once by every
// command that reads a file. The error must name it.
func TestInputsAreFiles(t *testing.T) {
	counterexample, err := filepath.Abs("../../../testdata/counterexamples/verify-twice.cheap-verify.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := unix.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("sparse", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("sparse", 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/zero", "/dev/full", "pipe", filepath.Join(dir, "sparse"), dir} {
		for _, command := range []string{
			"check FILE", "replay FILE", "explore --resume FILE", "explore --start FILE@1", "prove --config FILE", "explore --clients any --resume FILE",
			"prove --on amqps://127.0.0.1:1/?cacertfile=FILE", "replay --on amqps://127.0.0.1:1/?certfile=FILE&keyfile=FILE COUNTEREXAMPLE",
		} {
			var out bytes.Buffer
			start, code := time.Now(), 0
			words := strings.Fields(strings.NewReplacer("FILE", path, "COUNTEREXAMPLE", counterexample).Replace(command))
			done := make(chan struct{})
			go func() { defer close(done); code = run(words, &out, &out) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("%s: it hangs", words)
			}
			if code != exitCannot || time.Since(start) > 10*time.Second {
				t.Errorf("%s: exit code %d after %v: %s", words, code, time.Since(start), out.String())
			}
			if !strings.Contains(out.String(), filepath.Base(path)) {
				t.Errorf("%s: the error does not name the file: %s", words, out.String())
			}
		}
	}
}
