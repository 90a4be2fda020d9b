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

// TestClusterProve pauses a node for so short a time that no other node notices. No property may be violated. The
// report must list the faults, and checking the written history must give the same verdict.
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

// TestClusterDoesNotStart checks that a cluster which does not start gives an error of one line.
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
