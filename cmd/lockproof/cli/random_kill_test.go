//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var kills = flag.Int("kills", 4, "how many runs of prove --exec are killed or interrupted at random moments")

// asAdapter is an environment variable that makes this test binary an adapter of a target; its value is the target's
// name. family is an environment variable by which all processes of a run can be found.
const (
	asAdapter = "LOCKPROOF_TEST_AS_ADAPTER"
	family    = "LOCKPROOF_TEST_FAMILY"
)

// serve serves requests for a target on standard input and output, as an adapter does.
func serve(name string) {
	target, err := engine.TargetNamed(name)
	if err != nil {
		panic(err)
	}
	client, _ := foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}.Start(context.Background(), 1)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var call struct {
			ID     int
			Method string
			Params struct {
				URL, Name   string
				Slots, Slot int
			}
		}
		if err := json.Unmarshal(in.Bytes(), &call); err != nil {
			panic(err)
		}
		p := call.Params
		var op lock.Op
		result := ""
		if call.Method == "initialize" {
			_, err = client.Initialize(context.Background(), foreign.Setup{Lock: target.Kind, URLs: []string{p.URL}})
			result = introduction(target)
		} else if err = op.UnmarshalText([]byte(call.Method)); err == nil {
			var r lock.Result
			r, err = client.Call(context.Background(), op, foreign.Params{Name: p.Name, Slots: p.Slots, Slot: p.Slot})
			result = spoken(op, r)
		}
		if err != nil {
			result = fmt.Sprintf(`"error":{"code":-32603,"message":%q}`, err.Error())
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%d,%s}\n", call.ID, result)
	}
}

func introduction(target *lock.Target) string {
	var operations []string
	for _, op := range target.Kind.Operations() {
		operations = append(operations, `"`+op.String()+`"`)
	}
	return fmt.Sprintf(`"result":{"name":%q,"locks":[%q],"operations":[%s]}`, target.Name, target.Kind.String(), strings.Join(operations, ","))
}

// spoken returns the result of an operation in the form that an adapter writes.
func spoken(op lock.Op, r lock.Result) string {
	switch {
	case r.Outcome == lock.Unknown:
		return `"error":{"code":-32603,"message":"unknown"}`
	case op == lock.Acquire && r.Held:
		return fmt.Sprintf(`"result":{"held":true,"slot":%d}`, r.Slot)
	case op == lock.Acquire && r.Reason == lock.Full, op == lock.Verify:
		return fmt.Sprintf(`"result":{"held":%v}`, r.Held)
	case r.Outcome == lock.Failed:
		return `"error":{"code":-32000,"message":"no effect"}`
	case op == lock.Count:
		return fmt.Sprintf(`"result":{"slots":%d}`, r.Slots)
	}
	return `"result":{}`
}

// TestKilledRuns ends runs of prove --exec at random moments by different signals. Each counterexample file must be
// complete and violate its property again. The report must list the same violations, and no process may be left.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	killRuns(t, "", nil)
}

// TestKilledRunsOnRabbitMQ does the same on a real broker. The next run there must delete what the killed runs left.
func TestKilledRunsOnRabbitMQ(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what is killed on a real broker")
	}
	url := rabbitmqtest.URL(t)
	d := &declared{names: make(map[[2]string]bool)}
	killRuns(t, url, d)
	tidyUp(t, url, d.names)
}

// killRuns ends runs on the simulated broker, or on a real one if url is set. notes records what they declare on a real
// broker.
func killRuns(t *testing.T, url string, notes *declared) {
	random := rand.New(rand.NewPCG(1, uint64(*kills)))
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	if underNohup { // under nohup, SIGHUP would be ignored
		signals = signals[:3]
	}
	through := ""
	if notes != nil {
		through = notes.listen(t, url)
	}
	files := 0
	for i := range *kills {
		r := killedRun{dir: t.TempDir(), signal: signals[i%len(signals)], seed: i + 1, on: through}
		// Half of the runs are ended at a random time, and half after they have found a violation.
		r.found, r.delay = i/len(signals)%2 == 0, time.Duration(random.Int64N(int64(2*time.Second)))
		r.run(t)
		files += r.check(t)
	}
	t.Logf("%d runs ended, %d counterexamples replayed", *kills, files)
	if files == 0 {
		t.Error("no run has found anything")
	}
}

type killedRun struct {
	dir    string
	signal syscall.Signal
	seed   int
	on     string        // URL of a real broker, or ""
	found  bool          // end the run only after it has found a violation
	delay  time.Duration // time to wait before ending the run

	family      string
	out, errs   bytes.Buffer
	interrupted bool // the run has handled the signal and exited by itself
}

// server returns the flags that name the broker.
func (r *killedRun) server() []string {
	if r.on == "" {
		return nil
	}
	return []string{"--on", r.on}
}

// wrongAdapter returns the command of an adapter of a lock with a bug.
func wrongAdapter() string {
	return fmt.Sprintf("%s=locked-is-success exec %s", asAdapter, os.Args[0])
}

func (r *killedRun) run(t *testing.T) {
	t.Helper()
	r.family = fmt.Sprintf("%d-%d", os.Getpid(), r.seed)
	cmd := exec.Command(os.Args[0], append([]string{"prove", "--exec", wrongAdapter(), "--scenarios", "400",
		"--seed", fmt.Sprint(r.seed), "--workers", "2", "--json", "--out", r.dir}, r.server()...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1", family+"="+r.family)
	cmd.Stdout, cmd.Stderr = &r.out, &r.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for r.found && len(r.files(t)) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it found anything: %v\n%s", err, r.errs.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	select {
	case err := <-ended: // the run ended before the signal
		ended <- err
	case <-time.After(r.delay):
	}
	_ = cmd.Process.Signal(r.signal) // fails if the run has just ended
	err := <-ended
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > exitInterrupted || errors.As(err, &exit) && exit.ExitCode() == exitCannot {
		t.Errorf("%v: exit code %d\n%s", r.signal, exit.ExitCode(), r.errs.String())
	}
	r.interrupted = err == nil || exit.Exited()
}

// files returns the counterexample files of the run.
func (r *killedRun) files(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "[a-z]*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// check checks the files and processes that a run has left, and returns the number of counterexamples.
func (r *killedRun) check(t *testing.T) int {
	t.Helper()
	for _, pid := range relatives(r.family) {
		t.Errorf("%v: process %s is left", r.signal, pid)
	}
	files := r.files(t)
	for _, path := range files {
		var out, errs bytes.Buffer
		if code := run(append([]string{"replay", "--run-exec", path}, r.server()...), &out, &errs); code != exitViolated {
			t.Errorf("%v: %s: exit code %d\n%s%s", r.signal, path, code, out.String(), errs.String())
		}
	}
	switch {
	case r.interrupted:
		r.checkCard(t, files)
	case r.signal != syscall.SIGKILL && (len(files) > 0 || r.errs.Len() > 0): // the run began, but printed no report
		t.Errorf("%v: no card\n%s", r.signal, r.errs.String())
	}
	return len(files)
}

// checkCard checks that the report lists the violations that the files show.
func (r *killedRun) checkCard(t *testing.T, files []string) {
	t.Helper()
	var card struct {
		Properties []struct {
			Property  string
			Verdict   report.Verdict
			Violation *struct{ Detail, Counterexample string }
		}
	}
	if err := json.Unmarshal(r.out.Bytes(), &card); err != nil {
		if len(files) > 0 {
			t.Errorf("%v: %d counterexamples, and no card: %v\n%s", r.signal, len(files), err, r.errs.String())
		}
		return
	}
	shown := 0
	for _, p := range card.Properties {
		if p.Violation == nil {
			continue
		}
		shown++
		if _, err := os.Stat(p.Violation.Counterexample); err != nil || p.Violation.Detail == "" {
			t.Errorf("%v: %s is %s: %+v: %v", r.signal, p.Property, p.Verdict, p.Violation, err)
		}
	}
	if shown != len(files) {
		t.Errorf("%v: %d violations on the card, %d counterexamples", r.signal, shown, len(files))
	}
}

// relatives returns the processes of a run that still exist after they had time to end.
func relatives(name string) (left []string) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left = nil
		environments, _ := filepath.Glob("/proc/[0-9]*/environ") // empty on systems without /proc
		for _, path := range environments {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(family+"="+name+"\x00")) {
				left = append(left, filepath.Base(filepath.Dir(path)))
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}
