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
	Took    time.Duration // of the processor, so that it does not depend on what else the machine does
	Reaches []int         // the bugs whose code it comes by
	Fails   bool          // without any bug, and so it says nothing
}

func (t *test) String() string { return t.Package + "." + t.Name }

// part reports whether it is not the whole of a test.
func (t *test) part() bool { return strings.Contains(t.Name, "/") }

// withoutServer are the tests of packages that compare with a real server otherwise, which is nothing to
// be tried with bugs.
var withoutServer = map[string][]string{
	"adapters/amqp/rabbitmq": {"TestFacts/simulated", "TestRecorded"},
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

// baseline runs a test without a bug, and notes how long it takes and which bugs it reaches.
func (w *workshop) baseline(ctx context.Context, t *test, bugs int) error {
	path := filepath.Join(w.dir, "reached")
	if err := os.WriteFile(path, make([]byte, bugs+1), 0o644); err != nil {
		return err
	}
	verdict, took := w.run(ctx, []*test{t}, envReached+"="+path, w.options.limit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.Took, t.Fails = took, verdict != passed
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

// run runs tests of one package, in one process, until one fails, and tells how long the processor was at it. The
// limit is of that, too: what ends a bug's tests is not that the machine is busy.
func (w *workshop) run(ctx context.Context, tests []*test, env string, limit time.Duration) (verdict, time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	folder := tests[0].Package
	bounds := fmt.Sprintf("ulimit -v %d; ulimit -t %d", mostMemory>>10, int(limit.Seconds())+1) // dash takes one at a time
	c := exec.CommandContext(ctx, "sh", "-c", bounds+`; exec "$0" "$@"`,
		w.binary(folder), "-test.short", "-test.failfast", "-test.timeout=0", "-test.run="+pattern(tests))
	c.Dir = filepath.Join(w.dir, "src", folder)
	c.Env = append(slices.DeleteFunc(os.Environ(), real), env)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if c.Start() != nil {
		return failed, 0
	}
	go endIdle(ctx, cancel, func() (time.Duration, bool) { return used(c.Process.Pid), wants(c.Process.Pid) }, limit)
	err := c.Wait()
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	switch {
	case ctx.Err() != nil, took >= limit:
		return hanging, took
	case err != nil, bytes.Contains(out.Bytes(), []byte("no tests to run")):
		return failed, took
	}
	return passed, took
}

// endIdle ends a process that waits for what never comes. Between two looks it has used nothing more of the processor, or
// hardly anything, and it does not wait for its turn. On a busy machine a process that goes on may get no more, but it
// waits for its turn.
func endIdle(ctx context.Context, end func(), look func() (used time.Duration, wants bool), every time.Duration) {
	for last := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		now, wants := look()
		if now-last <= tick && !wants {
			end()
			return
		}
		last = now
	}
}

// tick is what Linux counts the time of the processor in, for whoever asks about another process.
const tick = 10 * time.Millisecond

// used is how long the processor was at a process that runs. It is 0 if the system does not tell it.
func used(pid int) (sum time.Duration) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	for _, f := range behindName(stat)[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0
		}
		sum += time.Duration(n) * tick
	}
	return sum
}

// wants reports whether a thread of another process is at work, or would be if it were its turn, or waits for a disk.
func wants(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is right
	return slices.ContainsFunc(threads, func(thread string) bool {
		stat, err := os.ReadFile(thread)
		return err == nil && strings.Contains("RD", behindName(stat)[0])
	})
}

// behindName are the fields of what Linux tells of a process or a thread, from its state on: its name may have blanks.
func behindName(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
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
