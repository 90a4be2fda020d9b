//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/clustertest"
)

// A node that stands still for less than others take to notice does no harm. The card says what befell it, and the history
// that is written is judged alike.
func TestClusterProve(t *testing.T) {
	clustertest.Need(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "h.jsonl")
	var out, errs bytes.Buffer
	args := exampleWords("cluster prove --nodes 2 --fault pause --fault-at 2 --length 500ms --settle 1s --clients-at 1,2 --jsonl FILE")
	args[len(args)-1] = file
	code := run(args, &out, &errs)
	if code != exitHolds || !strings.Contains(out.String(), "pause n2") || !strings.Contains(out.String(), "resume n2") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	var again bytes.Buffer
	if code := run([]string{"check", "--audit", file}, &again, &errs); code != exitHolds {
		t.Errorf("the history: exit code %d: %s%s", code, again.String(), errs.String())
	}
}

// A cluster that does not start is one line.
func TestClusterDoesNotStart(t *testing.T) {
	if _, err := exec.LookPath("epmd"); err != nil {
		t.Skip("skipped: Erlang is not installed")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rabbitmq-server"), []byte("#!/bin/sh\necho no Erlang here\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"cluster", "up", "--rabbitmq", dir}, &out, &errs); code != exitCannot || !strings.Contains(errs.String(), "it said: no Erlang here") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
}
