//go:build unix

package subprocess_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/lock"
)

var setup = foreign.Setup{Client: "c1", Lock: lock.Semaphore, URLs: []string{"amqp://guest:guest@127.0.0.1:1/%2F"}}

func starter(name string) *subprocess.Starter {
	return &subprocess.Starter{Command: "exec '" + os.Args[0] + "'", Env: []string{role + "=" + name, "EXTRA=1", "GORACE=atexit_sleep_ms=0"}}
}

// begin starts a client, and closes it at the end of the test. The test fails if the client leaves goroutines behind.
func begin(t *testing.T, s *subprocess.Starter) *subprocess.Client {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	c := s.Client("c1")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		settled(t, func() bool { return runtime.NumGoroutine() <= goroutines }, "goroutines are left behind")
	})
	return c
}

// settled waits until a condition is true, and fails the test with the text what if that takes too long.
func settled(t *testing.T, holds func() bool, what string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// If a program follows the protocol, each operation has the result that the program answers.
func TestWell(t *testing.T) {
	c := begin(t, starter("well"))
	got, err := c.Initialize(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "tiny 1" || len(got.Locks) != 1 || len(got.Operations) != 6 {
		t.Errorf("%+v", got)
	}
	for _, step := range []struct {
		op   lock.Op
		p    foreign.Params
		want lock.Result
	}{
		{lock.Create, foreign.Params{Name: "jobs", Slots: 2}, lock.Result{Outcome: lock.Done}},
		{lock.Acquire, foreign.Params{Name: "jobs"}, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}},
		{lock.Verify, foreign.Params{Name: "jobs", Slot: 1}, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}},
		{lock.Release, foreign.Params{Name: "jobs", Slot: 1}, lock.Result{Outcome: lock.Done, Slot: 1}},
		{lock.Count, foreign.Params{Name: "jobs"}, lock.Result{Outcome: lock.Done, Slots: 2}},
		{lock.Wait, foreign.Params{Name: "jobs", Slot: 2}, lock.Result{Outcome: lock.Done, Slot: 2}},
	} {
		if got, err := c.Call(t.Context(), step.op, step.p); err != nil || got != step.want {
			t.Errorf("%s: %+v %v, expected %+v", step.op, got, err, step.want)
		}
	}
	r, err := c.Do(t.Context(), "env", struct{}{})
	if err != nil || !strings.Contains(string(r.Result), setup.URLs[0]) || !strings.Contains(string(r.Result), `"extra":"1"`) {
		t.Errorf("its environment is %v %v", r, err)
	}
	if c.Close(); c.IgnoredEnd() {
		t.Error("it did not end at the end of its input")
	}
}

// A Go program runs on one processor, unless GOMAXPROCS is set or the starter is Parallel.
func TestProcessors(t *testing.T) {
	t.Setenv("GOMAXPROCS", "") // restores the variable at the end of the test
	for _, c := range []struct {
		ours, its string
		parallel  bool
		want      string
	}{{want: "1"}, {ours: "3", want: "3"}, {its: "2", want: "2"}, {parallel: true}} {
		os.Unsetenv("GOMAXPROCS")
		if c.ours != "" {
			os.Setenv("GOMAXPROCS", c.ours)
		}
		s := starter("well")
		if s.Parallel = c.parallel; c.its != "" {
			s.Env = append(s.Env, "GOMAXPROCS="+c.its)
		}
		client := begin(t, s)
		if _, err := client.Initialize(t.Context(), setup); err != nil {
			t.Fatal(err)
		}
		r, err := client.Do(t.Context(), "env", struct{}{})
		if err != nil || !strings.Contains(string(r.Result), `"processors":"`+c.want+`"`) {
			t.Errorf("%+v: %v %v", c, r, err)
		}
	}
}

// For each kind of misbehaving program, a call returns the expected kind of error with the expected text, or the
// expected result.
func TestMisbehaviour(t *testing.T) {
	for _, test := range []struct {
		role string
		kind any // a *subprocess.ProtocolError, a *subprocess.ExitError, or a lock.Result
		says string
	}{
		{"dies at once", &subprocess.ExitError{}, `c1, initialize: the process ended: exit status 3; its standard error ends with "no such module"`},
		{"rubbish first", &subprocess.ProtocolError{}, `c1, initialize: printed "Connecting..." to standard output: expected one JSON-RPC answer a line`},
		{"refuses to begin", &subprocess.ProtocolError{}, `c1, initialize: error -1: "wrong broker"`},
		{"nameless", &subprocess.ProtocolError{}, `has no "name"`},
		{"unknown lock", &subprocess.ProtocolError{}, `names "sofa" among its "locks": expected semaphore`},
		{"unknown operation", &subprocess.ProtocolError{}, `names "grab" among its "operations": expected acquire`},
		{"prints rubbish", &subprocess.ProtocolError{}, `c1, acquire: printed "got the lock!" to standard output`},
		{"floods", &subprocess.ProtocolError{}, "printed a line of more than 65536 bytes"},
		{"answers another", &subprocess.ProtocolError{}, `answered with "id":9: expected "id":2, that of the call under way (acquire)`},
		{"answers without id", &subprocess.ProtocolError{}, `answered "{\"jsonrpc\":\"2.0\",\"result\":{}}", without the call's "id": expected "id":2`},
		{"answers nobody", &subprocess.ProtocolError{}, `answered with error -32700: "parse error" and without the call's "id": expected "id":2`},
		{"calls us", &subprocess.ProtocolError{}, "sent a call or notification of its own"},
		{"neither", &subprocess.ProtocolError{}, `expected a "result" or an "error"`},
		{"error of a word", &subprocess.ProtocolError{}, `expected an "error" of a code and a message, such as {"code":-32000,"message":"all are taken"}`},
		{"old version", &subprocess.ProtocolError{}, `expected "jsonrpc":"2.0"`},
		{"wrong type", &subprocess.ProtocolError{}, `expected {"held":true,"slot":n}`},
		{"no slot", &subprocess.ProtocolError{}, `expected {"held":true,"slot":n}`},
		{"slot of thousands", &subprocess.ProtocolError{}, "with n from 1 to 250"},
		{"crashes", &subprocess.ExitError{}, `exit status 1; its standard error ends with "Traceback | in acquire | KeyError: 1"`},
		{"dies of a signal", &subprocess.ExitError{}, "c1, acquire: the process ended: "},
		{"cut off", &subprocess.ExitError{}, "exit status 0"},
		{"closes its output", &subprocess.ExitError{}, "it closed its standard output, went on, and was killed"},
		{"fails", lock.Result{Outcome: lock.Failed}, "no"},
		{"does not know", lock.Result{Outcome: lock.Unknown}, "timeout"},
		{"full", lock.Result{Outcome: lock.Done}, ""},
	} {
		t.Run(test.role, func(t *testing.T) {
			c := begin(t, starter(test.role))
			r, err := ask(t.Context(), c)
			if want, ok := test.kind.(lock.Result); ok {
				if err != nil || r != want {
					t.Errorf("%+v %v, expected %+v", r, err, want)
				}
				if said := c.Explanation(); said != test.says {
					t.Errorf("it said %q, expected %q", said, test.says)
				}
				return
			}
			judge(t, err, test.kind, test.says)
		})
	}
}

// ask initializes a client, and calls acquire.
func ask(ctx context.Context, c *subprocess.Client) (lock.Result, error) {
	if _, err := c.Initialize(ctx, setup); err != nil {
		return lock.Result{}, err
	}
	return c.Call(ctx, lock.Acquire, foreign.Params{Name: "jobs"})
}

// judge fails the test if err is not of the same type as kind, or is not one line that contains says.
func judge(t *testing.T, err error, kind any, says string) {
	t.Helper()
	if err == nil || fmt.Sprintf("%T", err) != fmt.Sprintf("%T", kind) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%T: %v\nexpected a %T that says %s", err, err, kind, says)
	}
	if _, died := kind.(*subprocess.ExitError); died != errors.Is(err, foreign.ErrDied) {
		t.Errorf("%v: the kind of end can't be told", err)
	}
}

// If a program answers a call twice, the next call returns an error, or a later one if the answer comes late.
func TestAnswersTwice(t *testing.T) {
	c := begin(t, starter("answers twice"))
	_, err := ask(t.Context(), c)
	for range 100 {
		if err != nil {
			break
		}
		_, err = c.Call(t.Context(), lock.Count, foreign.Params{Name: "jobs"})
	}
	judge(t, err, &subprocess.ProtocolError{}, "answered call 2 twice")
}

// If there is no answer to the first call in time, that is an error of the protocol. For a later call, the result is
// unknown.
func TestHangs(t *testing.T) {
	s := starter("silent")
	s.Limit = time.Millisecond
	_, err := begin(t, s).Initialize(t.Context(), setup)
	judge(t, err, &subprocess.ProtocolError{}, "no answer within 1ms")

	c := begin(t, starter("hangs"))
	if _, err := c.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	r, err := c.Call(ctx, lock.Acquire, foreign.Params{Name: "jobs"})
	want := lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}
	if err != nil || r != want {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := c.Call(ctx, lock.Count, foreign.Params{Name: "jobs"}); err != nil || r != want {
		t.Errorf("a call after one that was given up: %+v %v", r, err)
	}
}

// If a client is killed during a call, the call returns, and its result is unknown because of a crash.
func TestKill(t *testing.T) {
	c := begin(t, starter("hangs"))
	if _, err := c.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	results := make(chan lock.Result)
	go func() {
		r, err := c.Call(t.Context(), lock.Acquire, foreign.Params{Name: "jobs"})
		if err != nil {
			t.Error(err)
		}
		results <- r
	}()
	if err := c.Kill(); err != nil {
		t.Error(err)
	}
	if r := <-results; r != (lock.Result{Outcome: lock.Unknown, Reason: lock.Crashed}) {
		t.Errorf("%+v", r)
	}
}

// A paused client answers only after it was resumed. A client that is paused can be closed.
func TestPause(t *testing.T) {
	c := begin(t, starter("well"))
	if _, err := c.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	for stopped := false; !stopped; { // a running process may get the signal a little later
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		r, err := c.Call(ctx, lock.Acquire, foreign.Params{})
		cancel()
		if err != nil {
			t.Fatalf("a stopped client answers: %+v %v", r, err)
		}
		stopped = r.Reason == lock.TimedOut
	}
	if err := c.Continue(); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Call(t.Context(), lock.Count, foreign.Params{}); err != nil || r.Slots != 2 { // waits for the late answer
		t.Errorf("it did not go on: %+v %v", r, err)
	}
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
}

// After Close, neither the program nor the processes that it has started are left, whatever signals they ignore.
func TestNothingLeft(t *testing.T) {
	for name, ignores := range map[string]bool{"well": false, "ignores the end": true, "ignores everything": true, "has a child": true} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			s := starter(name)
			s.Stderr = &said
			c := begin(t, s)
			if _, err := c.Initialize(t.Context(), setup); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil || c.IgnoredEnd() != ignores {
				t.Errorf("it ignored the end of its input: %v, expected %v; %v", c.IgnoredEnd(), ignores, err)
			}
			for _, pid := range regexp.MustCompile(`child (\d+)`).FindAllStringSubmatch(said.String(), -1) {
				gone(t, pid[1])
			}
		})
	}
}

// gone waits until a process has ended. A zombie counts as ended.
func gone(t *testing.T, number string) {
	t.Helper()
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	settled(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && bytes.Contains(stat, []byte(") Z ")) || syscall.Kill(pid, 0) != nil
	}, "process "+number+" is left behind")
}

// The client's standard error is shown, up to a limit.
func TestStandardError(t *testing.T) {
	var said bytes.Buffer
	s := starter("complains a lot")
	s.Stderr = &said
	c := begin(t, s)
	if _, err := c.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if text := said.String(); !strings.HasPrefix(text, "line 0\nline 1\n") || len(text) > 1<<19 || !strings.Contains(text, "no more of this") {
		t.Errorf("%d bytes of standard error were shown", len(text))
	}
}

// If a command does not exist, the error contains the shell's message.
func TestNoSuchCommand(t *testing.T) {
	c := begin(t, &subprocess.Starter{Command: "no-such-command-anywhere"})
	_, err := c.Initialize(t.Context(), setup)
	judge(t, err, &subprocess.ExitError{}, "not found")
}
