//go:build unix

package rabbitmq_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/adapters/rabbitmq/rabbitmqtest"
)

// A restart is a real one: what is durable stays, what is not does not, and the URL is the same. And
// when the node is stopped, no process, port or directory of it is left.
func TestNodeRestartsAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := rabbitmqtest.Private(t)
	if !b.CanRestart() || !strings.HasPrefix(b.Version, "RabbitMQ ") {
		t.Errorf("a private node is %q and can restart: %v", b.Version, b.CanRestart())
	}

	client := connect(t, b.URL)
	declare := func(name string, durable, exclusive bool) {
		t.Helper()
		if _, err := client.QueueDeclare(name, durable, false, exclusive, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	declare("durable", true, false)
	declare("transient", false, false)
	declare("exclusive", false, true)

	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"durable": true, "transient": false, "exclusive": false} {
		if got := queueExists(t, b.URL, name); got != want {
			t.Errorf("after the restart, the %s queue exists: %v, want %v", name, got, want)
		}
	}

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

// Whoever gives up while a node is starting leaves nothing behind either.
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

// connect opens a connection and a channel for the length of a test.
func connect(t *testing.T, url string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func queueExists(t *testing.T, url, name string) bool {
	t.Helper()
	_, err := connect(t, url).QueueDeclarePassive(name, false, false, false, false, nil)
	if refusal, ok := err.(*amqp.Error); ok && refusal.Code == amqp.NotFound {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// wantNothingLeft waits, because what is killed needs a moment to go.
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

func filesIn(dir string) (left []string) {
	left, _ = filepath.Glob(filepath.Join(dir, "*"))
	return left
}

// processesOf finds the processes that mention a directory in their arguments or environment; where
// there is no /proc it finds none.
func processesOf(dir string) (left []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(proc, "environ"))
		if strings.Contains(string(args)+string(env), filepath.Join(dir, "lockproof-node-")) {
			left = append(left, proc+": "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return left
}

func listenersAt(address string) (left []string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	if conn, err := net.DialTimeout("tcp", u.Host, time.Second); err == nil {
		_ = conn.Close()
		left = append(left, u.Host)
	}
	return left
}
