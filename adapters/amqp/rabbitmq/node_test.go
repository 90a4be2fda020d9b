//go:build unix

package rabbitmq_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// A node can be restarted. After Stop no process, port or directory of it is left.
func TestNodeRestartsAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := rabbitmqtest.Private(t)
	if !b.CanRestart() || !strings.HasPrefix(b.Version, "RabbitMQ ") {
		t.Errorf("a private node is %q and can restart: %v", b.Version, b.CanRestart())
	}

	if !strings.HasSuffix(b.String(), " (started)") {
		t.Errorf("it is called %q", b.String())
	}
	wantRealRestart(t, b)

	if runtime.GOOS == "linux" && len(processesOf(os.Getenv("TMPDIR"))) < 2 {
		t.Error("this test does not see the processes that it is about")
	}
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, os.Getenv("TMPDIR"), b.URL)
	if err := b.Stop(); err != nil || b.CanRestart() {
		t.Errorf("stopping again: %v; can restart: %v", err, b.CanRestart())
	}
}

// A start that was cancelled leaves no process and no file behind.
func TestNodeStartIsAbandoned(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	b, err := rabbitmq.StartNode(ctx, rabbitmq.Options{})
	if err == nil {
		t.Cleanup(func() { _ = b.Stop() })
		t.Skip("a node started within a second")
	}
	wantNothingLeft(t, os.Getenv("TMPDIR"), "")
}

// wantNothingLeft waits until no file, process or port of a node is left, as killed processes need a moment to end.
func wantNothingLeft(t *testing.T, tmp, url string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		left = slices.Concat(filesIn(tmp), processesOf(tmp), listenersAt(url))
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
}

// filesIn lists the files in dir that a run has left. It leaves out the folder lockproof-UID, which contains all
// temporary folders of a user and stays for the next run.
func filesIn(dir string) (left []string) {
	for _, pattern := range []string{"*", "lockproof-*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		left = append(left, found...)
	}
	return slices.DeleteFunc(left, func(path string) bool { return path == filepath.Join(dir, fmt.Sprintf("lockproof-%d", os.Geteuid())) })
}

// processesOf lists the processes that mention dir in their arguments or environment. On systems without /proc the list
// is empty.
func processesOf(dir string) (left []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(proc, "environ"))
		if strings.Contains(string(args)+string(env), filepath.Join(dir, "lockproof-")) {
			left = append(left, proc+": "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return left
}
