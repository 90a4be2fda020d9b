//go:build unix

package rabbitmq_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/internal/rabbitmqtest"
)

// However a process ends that started a node, the node ends too.
func TestNodeEndsWithItsProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out starting a RabbitMQ")
	}
	for _, end := range []struct {
		name string
		do   func(*os.Process) error
	}{
		{"the handled way, by SIGTERM", func(p *os.Process) error { return p.Signal(syscall.SIGTERM) }},
		{"by ^C in a terminal, which the whole process group gets", func(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }},
		{"without a chance to do anything, by SIGKILL", func(p *os.Process) error { return p.Kill() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			helper, url := startHelper(t, tmp)
			if err := end.do(helper.Process); err != nil {
				t.Fatal(err)
			}
			_ = helper.Wait()
			wantNothingLeft(t, tmp, url)
		})
	}
}

const envHelper = "LOCKPROOF_TEST_NODE_HELPER"

// startHelper runs this test binary again, in a process group of its own, as the program that is
// TestNodeHelper below.
func startHelper(t *testing.T, tmp string) (helper *exec.Cmd, url string) {
	t.Helper()
	helper = exec.Command(os.Args[0], "-test.run=^TestNodeHelper$")
	helper.Env = append(os.Environ(), envHelper+"=1", "TMPDIR="+tmp)
	helper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = helper.Process.Kill() })
	var said []string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if url, found := strings.CutPrefix(lines.Text(), "ready: "); found {
			return helper, url
		}
		said = append(said, lines.Text())
	}
	if err := helper.Wait(); err != nil {
		t.Fatalf("the helper started no node: %v: %s", err, strings.Join(said, "; "))
	}
	t.Skip("the helper was skipped: no rabbitmq-server to start a node with")
	return nil, ""
}

// TestNodeHelper is the program that the tests of this file start and end. It stops its node on
// SIGTERM, knows nothing of SIGINT, and gives up in the end. Run as a test, it is nothing.
func TestNodeHelper(t *testing.T) {
	if os.Getenv(envHelper) == "" {
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	fmt.Println("ready: " + rabbitmqtest.Private(t).URL)
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
}
