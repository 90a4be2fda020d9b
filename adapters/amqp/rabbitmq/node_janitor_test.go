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

// When the process that started a node ends, by SIGTERM, SIGINT or SIGKILL, the node ends as well.
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

// startHelper runs this test binary again as TestNodeHelper, in its own process group. url is the address of the
// helper's node.
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

// TestNodeHelper is the process that the tests in this file start and end. It starts a node, and stops it on SIGTERM or
// after a minute. It does not handle SIGINT. In an ordinary test run it does nothing.
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
