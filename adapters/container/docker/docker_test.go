package docker_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/container"
	"github.com/lockproof/lockproof/adapters/container/docker"
)

// envLooks names the environment variable with which TestNoEngine runs TestLooks in a new process. A new process is
// needed because testcontainers-go looks for an engine only once in a process.
const envLooks = "LOCKPROOF_TEST_LOOKS"

// TestLooks is the child process of TestNoEngine. Without the environment variable it does nothing.
func TestLooks(t *testing.T) {
	if os.Getenv(envLooks) == "" {
		return
	}
	_, err := docker.Start(t.Context(), container.Usual("redis"), nil)
	if !errors.Is(err, container.ErrNoEngine) {
		t.Fatalf("%v: expected no engine", err)
	}
	t.Log(err)
}

// TestNoEngine: the error is one line that says where an engine was looked for and what to do.
func TestNoEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short starts no programs")
	}
	for host, says := range map[string]string{
		"unix:///nowhere.sock": "no container engine answers at unix:///nowhere.sock, which DOCKER_HOST names",
		"tcp://" + deaf(t):     "no container engine answers at tcp://",
		"nonsense":             "no container engine answers at nonsense",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLooks$", "-test.v")
		cmd.Env = append(os.Environ(), envLooks+"=1", "DOCKER_HOST="+host, "HOME="+t.TempDir(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "expected no engine") {
			t.Skip("skipped: an engine answers at a usual socket")
		}
		said := ""
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "no container engine") {
				said = line
			}
		}
		if err != nil || !strings.Contains(said, says) || !strings.Contains(said, "; start Docker, or Podman's service") {
			t.Errorf("%s: %v: %s", host, err, out)
		}
	}
}

// deaf returns an address at which connections are accepted but nothing is answered.
func deaf(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestServer: a started server answers, keeps its address when it restarts, and is gone after Stop.
func TestServer(t *testing.T) {
	ready := func(_ context.Context, url string) error {
		_, err := ping(url)
		return err
	}
	s := start(t, ready)
	url := s.URL()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said, err := ping(url); said != "+PONG" || s.URL() != url {
		t.Errorf("after a restart at %s: %q, %v", s.URL(), said, err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := ping(url); err == nil {
		t.Error("it answers though it was stopped")
	}
}

// TestInterrupted: if the context ends while Start waits for the server, Start returns and removes the container.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	at := ""
	begin := time.Now()
	_, err := docker.Start(ctx, container.Usual("redis"), func(_ context.Context, url string) error {
		at = url
		cancel()
		return errors.New("never ready")
	})
	missing(t, err)
	if !errors.Is(err, context.Canceled) || time.Since(begin) > time.Minute {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
	if _, err := ping(at); err == nil {
		t.Error("it answers though its start was interrupted")
	}
}

// TestUnknownTag: the error for an image that does not exist names the image.
func TestUnknownTag(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // pulling is retried without a network
	defer cancel()
	_, err := docker.Start(ctx, container.Image{Name: "redis", Tag: "no-such-tag"}, nil)
	missing(t, err)
	if err == nil || ctx.Err() == nil && !strings.HasPrefix(err.Error(), "starting redis:no-such-tag in a container: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// start starts a server for a test. It skips the test if there is no container engine.
func start(t *testing.T, ready container.Ready) container.Server {
	t.Helper()
	s, err := docker.Start(t.Context(), container.Usual("redis"), ready)
	missing(t, err)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// missing skips the test if err says that there is no container engine.
func missing(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, container.ErrNoEngine) {
		t.Skip(err)
	}
}

// ping sends PING to the Redis server at url and returns the reply.
func ping(url string) (string, error) {
	at := strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0")
	conn, err := net.DialTimeout("tcp", at, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return "", err
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	return strings.TrimSpace(string(answer[:n])), err
}
