package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// test is one test of the module.
type test struct {
	Package string // its folder
	Name    string
	Took    time.Duration
	Reaches []int // the bugs whose code it comes by
	Fails   bool  // without any bug, and so it says nothing
}

func (t *test) String() string { return t.Package + "." + t.Name }

// part reports whether it is not the whole of a test.
func (t *test) part() bool { return strings.Contains(t.Name, "/") }

// withoutServer are the tests of packages that compare with a real server otherwise, which is nothing to
// be tried with bugs.
var withoutServer = map[string][]string{
	"adapters/rabbitmq": {"TestFacts/simulated", "TestRecorded"},
}

// list names the tests of a package.
func (w *workshop) list(ctx context.Context, folder string) ([]string, error) {
	if some := withoutServer[folder]; some != nil {
		return some, nil
	}
	c := exec.CommandContext(ctx, w.binary(folder), "-test.list", "^(Test|Fuzz|Example)")
	c.Dir = filepath.Join(w.dir, "src", folder)
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w", folder, err)
	}
	return strings.Fields(string(out)), nil
}

// rehearse runs a test without a bug.
func (w *workshop) rehearse(ctx context.Context, t *test, bugs int) error {
	path := filepath.Join(w.dir, "reached")
	if err := os.WriteFile(path, make([]byte, bugs+1), 0o644); err != nil {
		return err
	}
	begin := time.Now()
	verdict := w.run(ctx, []*test{t}, envReached+"="+path, w.options.limit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.Took, t.Fails = time.Since(begin), verdict != passed
	reached, err := os.ReadFile(path)
	for i, b := range reached {
		if b != 0 {
			t.Reaches = append(t.Reaches, i)
		}
	}
	return err
}

// verdict is what a run of tests comes to.
type verdict string

const (
	passed  verdict = "passed"
	failed  verdict = "failed"
	hanging verdict = "hanging" // killed after its time
)

// run runs tests of one package, in one process, until one fails.
func (w *workshop) run(ctx context.Context, tests []*test, env string, limit time.Duration) verdict {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	folder := tests[0].Package
	c := exec.CommandContext(ctx, "sh", "-c", "ulimit -v "+strconv.Itoa(mostMemory>>10)+`; exec "$0" "$@"`,
		w.binary(folder), "-test.short", "-test.failfast", "-test.timeout=0", "-test.run="+pattern(tests))
	c.Dir = filepath.Join(w.dir, "src", folder)
	c.Env = append(slices.DeleteFunc(os.Environ(), real), env)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return hanging
	case err != nil, bytes.Contains(out, []byte("no tests to run")):
		return failed
	}
	return passed
}

// pattern is what tells the test binary which tests to run. A part of a test is run by itself.
func pattern(tests []*test) string {
	if tests[0].part() {
		return "^" + strings.ReplaceAll(tests[0].Name, "/", "$/^") + "$"
	}
	var names []string
	for _, t := range tests {
		names = append(names, t.Name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// mostMemory is the address space that tests have, in bytes: some bugs never stop to allocate.
const mostMemory = 8 << 30

// real is what leads tests to a real server.
func real(variable string) bool { return strings.HasPrefix(variable, "LOCKPROOF_") }
