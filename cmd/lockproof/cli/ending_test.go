//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// TestOutputsAreTried checks that an output file which cannot be written is reported before the run begins.
func TestOutputsAreTried(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const endless = " --scenarios 2000000000"
	for _, args := range []string{
		"prove --junit " + file + "/x" + endless, "prove --html " + dir + endless, "prove --out " + file + endless,
		"prove --junit " + dir + "/missing/x.xml" + endless,
		"explore --checkpoint " + dir + "/missing/x", "explore --out " + file, "check --html " + dir + " " + file,
		"atlas --markdown " + dir, "atlas --html " + file + "/x", "atlas --out " + file, "replay --html " + dir + " " + file,
	} {
		var out, errs bytes.Buffer
		code := run(strings.Fields(args), &out, &errs)
		flag := strings.Fields(args)[1]
		if code != exitCannot || strings.Count(errs.String(), "\n") != 1 || !strings.HasPrefix(errs.String(), "lockproof: "+flag+": ") {
			t.Errorf("%s: exit code %d; %s", args, code, errs.String())
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("trying left %v; %v", entries, err)
	}
}

// TestVerdictOutlivesItsFiles checks runs whose files cannot be written. The complete report must be printed first, and
// then the errors.
func TestVerdictOutlivesItsFiles(t *testing.T) {
	t.Parallel()
	full := "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("NOT TESTED: this system has no ", full)
	}
	blocked := t.TempDir()
	for n := range 8 { // blocks all variants of the file's name
		name := "locked-is-success.mutual-exclusion.json"
		if n > 0 {
			name = fmt.Sprintf("locked-is-success.mutual-exclusion.%d.json", n+1)
		}
		if err := os.Mkdir(filepath.Join(blocked, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args string
		code int
		says string
		errs int
	}{
		{"prove locked-is-success --scenarios 100 --html /dev/full --junit /dev/full --out " + t.TempDir(), exitViolated, "✗ violated", 2},
		{"prove locked-is-success --scenarios 100 --out " + blocked, exitViolated, "✗ violated", 1},
		{"prove --scenarios 100 --html /dev/full --out " + t.TempDir(), exitCannot, "✓ passed", 1},
		{"atlas --question 9 --markdown /dev/full --html /dev/full", exitCannot, " 9.", 2},
		{"explore --depth 3 --checkpoint /dev/full --out " + t.TempDir(), exitCannot, "✓ passed", 1},
		{"explore locked-is-success --clients 2 --slots 1 --admins 0 --crashes 0 --depth 12 --checkpoint /dev/full --out " + t.TempDir(), exitViolated, "✗ violated", 1},
		{"replay " + found(t) + " --html /dev/full", exitViolated, "is violated", 1},
	} {
		var out, errs bytes.Buffer
		code := run(strings.Fields(test.args), &out, &errs)
		if code != test.code || !strings.Contains(out.String(), test.says) || strings.Count(errs.String(), "\n") != test.errs {
			t.Errorf("%s: exit code %d, expected %d, %q and %d errors:\n%s\n%s", test.args, code, test.code, test.says, test.errs, out.String(), errs.String())
		}
	}
}

// found returns the path of a counterexample that a run has found.
func found(t *testing.T) string {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run([]string{"prove", "locked-is-success", "--scenarios", "100", "--out", dir}, &out, &errs); code != exitViolated {
		t.Fatalf("exit code %d; %s", code, errs.String())
	}
	return filepath.Join(dir, "locked-is-success.mutual-exclusion.json")
}

// TestReplayOfAnotherLock checks the error for a counterexample of a lock that only a Go test has. It must say how to
// replay it there.
func TestReplayOfAnotherLock(t *testing.T) {
	data, err := os.ReadFile(found(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(`"locked-is-success"`), []byte(`"my-lock"`)), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"replay", file}, &out, &errs); code != exitCannot || !strings.Contains(errs.String(), "my-lock") || !strings.Contains(errs.String(), "LOCKPROOF_REPLAY") {
		t.Errorf("exit code %d; %s", code, errs.String())
	}
}

// TestExitCode checks the exit code and the printed failures if several errors occur at once.
func TestExitCode(t *testing.T) {
	full := errors.New("no room")
	canceled := fmt.Errorf("client 1: %w", context.Canceled)
	for _, test := range []struct {
		err         error
		interrupted bool
		code        int
		says        []string
	}{
		{nil, false, exitHolds, nil},
		{nil, true, exitHolds, nil}, // the normal end of `broker`
		{errViolated, false, exitViolated, nil},
		{all(errViolated, full), false, exitViolated, []string{"no room"}},
		{all(full, errViolated), true, exitViolated, []string{"no room"}},
		{all(errInterrupted, full), true, exitInterrupted, []string{"no room"}},
		{canceled, true, exitInterrupted, nil},
		{errors.Join(canceled, full), true, exitInterrupted, []string{"no room"}},
		{fmt.Errorf("stress: %w", errors.Join(full, canceled)), true, exitInterrupted, []string{"stress: no room\nclient 1: context canceled"}},
		{full, true, exitInterrupted, []string{"no room"}},
		{full, false, exitCannot, []string{"no room"}},
		{all(errInterrupted, full), false, exitCannot, []string{"no room"}},
		{all(errInconclusive, nil, all(full, full)), false, exitCannot, []string{"no room", "no room"}},
		{errInterrupted, false, exitInterrupted, nil},
		{errInconclusive, false, exitInconclusive, nil},
	} {
		var says []string
		for _, err := range troubles(test.err) {
			says = append(says, err.Error())
		}
		if code := exitCode(test.err, test.interrupted); code != test.code || !slices.Equal(says, test.says) {
			t.Errorf("%v, interrupted %v: %d %q, expected %d %q", test.err, test.interrupted, code, says, test.code, test.says)
		}
	}
}

// interrupted runs a command line, and sends this process a signal after a while, again and again until the command has
// ended.
func interrupted(args []string, sig syscall.Signal, after time.Duration) (code int, out, errs string) {
	guard := make(chan os.Signal, 1) // prevents further signals from ending the test
	signal.Notify(guard, sig)
	defer signal.Stop(guard)
	var stdout, stderr bytes.Buffer
	ended := make(chan int)
	go func() { ended <- run(args, &stdout, &stderr) }()
	for {
		select {
		case code = <-ended:
			return code, stdout.String(), stderr.String()
		case <-time.After(after):
			syscall.Kill(os.Getpid(), sig)
			after = 100 * time.Millisecond
		}
	}
}

// TestInterrupts checks runs that a signal ends. The results so far must be printed and written, and the exit code must
// say that the run was interrupted.
func TestInterrupts(t *testing.T) {
	for s, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for l, line := range []string{
			"prove locked-is-success --scenarios 2000000000",
			"prove --scenarios 2000000000",
			"explore locked-is-success --clients 4 --rounds 3",
			"explore --clients any --slots 3",
			"atlas",
		} {
			if testing.Short() && l%3 != s {
				continue // with -short each command line gets one kind of signal only
			}
			dir := t.TempDir()
			args := append(strings.Fields(line), "--html", filepath.Join(dir, "page.html"), "--out", dir)
			code, out, errs := interrupted(args, sig, 100*time.Millisecond)
			want := exitInterrupted
			if violated := strings.Contains(out, "✗ violated"); violated && args[0] != "atlas" {
				want = exitViolated
			}
			if code != want || errs != "" || !strings.Contains(out, "nterrupted") && !strings.Contains(out, "ended early") {
				t.Errorf("%s, %v: exit code %d, expected %d:\n%s%s", line, sig, code, want, out, errs)
			}
			if _, err := os.Stat(filepath.Join(dir, "page.html")); err != nil {
				t.Errorf("%s, %v: %v", line, sig, err)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "*.mutual-exclusion.json")); want == exitViolated && len(files) != 1 {
				t.Errorf("%s, %v: no counterexample was written", line, sig)
			}
		}
	}
}

// TestStressInterrupted checks that an interrupted stress run writes its history, and judges it.
func TestStressInterrupted(t *testing.T) {
	url := rabbitmqtest.URL(t)
	runs := 10
	if testing.Short() {
		runs = 3
	}
	for n, after := 0, 100*time.Millisecond; n < runs; { // an interrupt must never look like a violation
		dir := t.TempDir()
		code, out, errs := interrupted([]string{"prove", "--on", url, "--rounds", "1000000", "--out", dir}, syscall.SIGTERM, after)
		if code == exitInterrupted && out == "" && errs == "" { // the signal came before the run began
			after *= 2
			continue
		}
		n++
		if code != exitInterrupted || errs != "" || !strings.Contains(out, "interrupted: this is what was found until then") {
			t.Errorf("exit code %d:\n%s%s", code, out, errs)
		}
		if _, _, err := histories.LoadHistory(filepath.Join(dir, histories.HistoryName("semaphore")), histories.Header{}); err != nil {
			t.Error(err)
		}
	}
}

// TestInterruptsTogether checks that an interrupt delivered twice in short time, as by timeout(1), counts once, and
// does not end the program at once.
func TestInterruptsTogether(t *testing.T) {
	ctx, stop := interruptible(time.Hour)
	defer stop()
	for range 20 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		runtime.Gosched()
	}
	seen := make(chan os.Signal, 1)
	signal.Notify(seen, syscall.SIGTERM)
	defer signal.Stop(seen)
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	<-seen // by now all earlier signals have been delivered
}
