//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/container/docker"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/cmd/lockproof/campaign/queue"
	"github.com/lockproof/lockproof/cmd/lockproof/servers"
	"github.com/lockproof/lockproof/cmd/lockproof/servers/linked"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/internal/waittest"
)

// asCommand is an environment variable that makes this test binary the program lockproof.
const asCommand = "LOCKPROOF_TEST_AS_COMMAND"

// handsOver is the value of asCommand for a lockproof without campaigns and drivers, which runs other programs for
// them.
const handsOver = "hands over"

// beginsHungUp is an environment variable that makes this test binary send itself SIGHUP again and again.
const beginsHungUp = "LOCKPROOF_TEST_HUNG_UP"

func TestMain(m *testing.M) {
	if bug := os.Getenv(envAdapter); bug != "" {
		adapt(strings.TrimPrefix(bug, "none"))
		return
	}
	if target := os.Getenv(asAdapter); target != "" {
		serve(target)
		return
	}
	if bug := os.Getenv(envOnRedis); bug != "" {
		serveOnRedis(bug)
		return
	}
	if os.Getenv(beginsHungUp) != "" {
		if !signal.Ignored(syscall.SIGHUP) {
			signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // ignores signals before and after the run
		}
		go func() {
			for range time.Tick(20 * time.Millisecond) {
				syscall.Kill(os.Getpid(), syscall.SIGHUP)
			}
		}()
	}
	campaigns, finders, containers = queue.Runner{}, linked.Finders, docker.Start
	if source := os.Getenv("LOCKPROOF_TEST_SOURCE"); source != "" {
		sourceFile = source
	}
	switch os.Getenv(asCommand) {
	case "":
		os.Exit(waittest.Run(m))
	case handsOver:
		Main(nil, servers.Own, nil)
	}
	Main(campaigns, finders, containers)
}

// declared records the queues and exchanges that a run declares through a proxy. When the number of declarations
// reaches fatal, it kills the run.
type declared struct {
	mu    sync.Mutex
	names map[[2]string]bool
	calls int
	fatal int
	kill  func()
}

func (d *declared) note(queue, exchange string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if stress.Marked(queue + exchange) {
		d.names[[2]string{queue, exchange}] = true
	}
	if d.calls++; d.calls == d.fatal {
		d.kill()
	}
}

// listen starts a proxy in front of a real broker and returns its URL. The proxy records declarations.
func (d *declared) listen(t *testing.T, url string) string {
	t.Helper()
	proxy, err := wire.ProxyTo(url)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Declaring = d.note
	server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: proxy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	through, err := server.URLFor(url)
	if err != nil {
		t.Fatal(err)
	}
	return through
}

// killed runs a command on a real broker and kills it after the given number of declarations. It returns the declared
// queues and exchanges.
func killed(t *testing.T, url string, fatal int, args ...string) map[[2]string]bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	d := &declared{names: make(map[[2]string]bool), fatal: fatal, kill: func() { cmd.Process.Kill() }}
	through := d.listen(t, url)
	var said bytes.Buffer
	cmd.Args = append(cmd.Args, "--on", through, "--out", t.TempDir())
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asCommand+"=1"), &said, &said
	if err := cmd.Run(); err == nil || d.calls < fatal {
		t.Fatalf("it ended by itself: %v\n%s", err, said.String())
	}
	return d.names
}

// left returns those queues and exchanges that still exist on the broker.
func left(t *testing.T, url string, names map[[2]string]bool) (there []string) {
	t.Helper()
	conn, err := amqp091.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name := range names {
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if name[0] != "" {
			_, err = ch.QueueDeclarePassive(name[0], false, false, false, false, nil)
		} else {
			err = ch.ExchangeDeclarePassive(name[1], "direct", false, false, false, false, nil)
		}
		var closed *amqp091.Error
		if !errors.As(err, &closed) || closed.Code != amqp091.NotFound {
			there = append(there, name[0]+name[1])
		}
		ch.Close()
	}
	return there
}

// tries is the maximum number of runs until everything is deleted. Other runs on the same broker may be deleting the
// same data.
const tries = 20

// TestKilledRunsAreTidiedUp kills runs at different moments. The next run on the same broker must delete what they
// left.
func TestKilledRunsAreTidiedUp(t *testing.T) {
	t.Parallel()
	url := rabbitmqtest.URL(t)
	type kill struct {
		args  []string
		fatal []int // numbers of declarations after which the run is killed
	}
	runs := []kill{{[]string{"prove", "--rounds", "1000000"}, []int{2, 12}}}
	if !testing.Short() {
		runs = append(runs,
			kill{[]string{"prove", "--exec", adapter(""), "--workers", "2"}, []int{2}},
			kill{[]string{"prove", "--exec", adapter(""), "--stress", "proxy", "--rounds", "1000000"}, []int{12}},
			kill{[]string{"prove", "--exec", adapter(""), "--stress", "straight", "--rounds", "1000000"}, []int{2}},
			kill{[]string{"atlas"}, []int{12}},
		)
	}
	for _, r := range runs {
		for _, fatal := range r.fatal {
			t.Logf("%q, killed after %d declarations", r.args, fatal)
			tidyUp(t, url, killed(t, url, fatal, r.args...))
		}
	}
}

// tidyUp runs lockproof on a broker on which other runs were killed. It checks that nothing of them is left.
func tidyUp(t *testing.T, url string, names map[[2]string]bool) {
	t.Helper()
	var there []string
	for range tries {
		var out, errs bytes.Buffer
		if code := run([]string{"prove", "--on", url, "--rounds", "1", "--out", t.TempDir()}, &out, &errs); errs.Len() > 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		if there = left(t, url, names); len(there) == 0 {
			return
		}
	}
	t.Errorf("%d things are left: %s", len(there), strings.Join(there, ", "))
}

// TestFilesOnStandardOutput writes a report file to /dev/stdout. Neither the file nor the printed report may overwrite
// the other.
func TestFilesOnStandardOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "both")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command(os.Args[0], "prove", "--scenarios", "100", "--junit", "/dev/stdout", "--out", t.TempDir())
	cmd.Env, cmd.Stdout = append(os.Environ(), asCommand+"=1"), f
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	both, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lockproof 0.", "19 properties: ", "<testsuites>", "</testsuites>"} {
		if !strings.Contains(string(both), want) {
			t.Errorf("%q is missing:\n%s", want, both)
		}
	}
}

// underNohup says that the tests run under nohup. It must be determined before anything registers for SIGHUP.
var underNohup = signal.Ignored(syscall.SIGHUP)

// TestHangUp checks that the end of the terminal interrupts a run, unless the run was started under nohup.
func TestHangUp(t *testing.T) {
	if underNohup {
		t.Skip("NOT TESTED: the tests themselves run under nohup")
	}
	for minds, code := range map[bool]int{true: exitInterrupted, false: exitHolds} {
		args := []string{"-c", `trap "" HUP; exec "$@"`, "sh", os.Args[0], "prove", "--scenarios", "300", "--out", t.TempDir()}
		if minds {
			args[1] = `exec "$@"`
			args[6] = "2000000000"
		}
		cmd := exec.Command("/bin/sh", args...)
		cmd.Env = append(os.Environ(), asCommand+"=1", beginsHungUp+"=1")
		err := cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("minds %v: exit code %d, expected %d; %v", minds, got, code, err)
		}
	}
}

// TestInterruptedHandOver checks that an interrupt which arrives before another program takes over is not lost.
func TestInterruptedHandOver(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lockproof-nothing"), []byte("#!/bin/sh\necho it was started; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := rootCommand()
	c.SetContext(ctx)
	if err := (sibling{"lockproof-nothing", "nothing is done by"}).handOver(c, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
