package subprocess_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/model/lock"
)

// socket names an environment variable. It tells a "forked" process the socket for its input, output and error. A Go
// program cannot fork, so it starts itself again instead.
const socket = "PROCESS_TEST_SOCKET"

func init() {
	forks := func(connections int, lead bool) {
		if path := os.Getenv(socket); path != "" {
			standardIO(path, connections)
			complain(fmt.Sprintf("%d of %d", os.Getpid(), os.Getppid()))
			obey(nil)
			return
		}
		eachWith(func(method string, id int, params map[string]any) {
			if method == "fork" {
				start(params["socket"].(string), lead)
			}
			good(method, id, map[string]string{"initialize": `"result":` + strings.TrimSuffix(about, "}") + `,"forks":true}`})
		})
	}
	roles["forks"] = func() { forks(2, true) }
	roles["forks and stays in the group"] = func() { forks(2, false) }
	roles["forks without an error stream"] = func() { forks(1, true) }
	roles["forks nobody"] = func() { forks(0, true) }
	roles["refuses to fork"] = func() {
		obey(map[string]string{"initialize": `"result":` + strings.TrimSuffix(about, "}") + `,"forks":true}`, "fork": `"error":{"code":-1,"message":"too many"}`})
	}
}

// start starts the test binary again, as a fork would. If lead is true, the process leads its own group.
func start(path string, lead bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), socket+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: lead}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	go cmd.Wait()
}

// standardIO connects to the socket, once for standard input and output and once for standard error.
func standardIO(path string, connections int) {
	for _, numbers := range [][]int{{0, 1}, {2}}[:connections] {
		end, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			panic(err)
		}
		f, err := end.File()
		if err != nil {
			panic(err)
		}
		for _, number := range numbers {
			if err := syscall.Dup3(int(f.Fd()), number, 0); err != nil {
				panic(err)
			}
		}
	}
}

// told reads what a client prints about itself on standard error: its own process number and its parent's.
func told(t *testing.T, said chan []byte) (process, parent int) {
	t.Helper()
	select {
	case line := <-said:
		if _, err := fmt.Sscanf(string(line), "%d of %d", &process, &parent); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not say who it is")
	}
	return process, parent
}

// more returns one more client of a starter. At the end of the test it is closed before the client of [begin], whose
// test for goroutines comes last.
func more(t *testing.T, s *subprocess.Starter) *subprocess.Client {
	t.Helper()
	c := s.Client("c2")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestForked: when a program has declared that it forks, one process forks all further clients, and ends with the
// last of them. A client that is killed ends at once, and the others continue.
func TestForked(t *testing.T) {
	s, said := starter("forks"), make(chan []byte, 1)
	s.Stderr = relay(said)
	first := begin(t, s)
	if _, err := first.Initialize(t.Context(), setup); err != nil || !first.Forks() {
		t.Fatalf("%v, forks: %t", err, first.Forks())
	}
	two, three := more(t, s), more(t, s)
	var processes [2]int
	var parents [2]int
	for i, c := range []*subprocess.Client{two, three} {
		if _, err := c.Initialize(t.Context(), setup); err != nil {
			t.Fatal(err)
		}
		processes[i], parents[i] = told(t, said)
	}
	if parents[0] != parents[1] || processes[0] == processes[1] {
		t.Errorf("processes %v of %v: expected two of one", processes, parents)
	}
	if err := two.Kill(); err != nil {
		t.Fatal(err)
	}
	// Kill returns an error once the killed process has been reaped by its parent.
	settled(t, func() bool { return syscall.Kill(processes[0], 0) != nil }, "a process is there that was killed")
	if got, err := two.Call(t.Context(), lock.Acquire, foreign.Params{Name: "jobs"}); err != nil || got.Reason != lock.Crashed {
		t.Errorf("%+v %v: expected that it has crashed", got, err)
	}
	if got, err := three.Call(t.Context(), lock.Acquire, foreign.Params{Name: "jobs"}); err != nil || !got.Held {
		t.Errorf("%+v %v: expected that it holds the lock", got, err)
	}
	for _, c := range []*subprocess.Client{first, two, three} {
		if err := c.Close(); err != nil || c.IgnoredEnd() {
			t.Errorf("%v, ignores the end: %t", err, c.IgnoredEnd())
		}
	}
	settled(t, func() bool { return syscall.Kill(parents[0], 0) != nil }, "the process that forks is left behind")
}

// stopped reports whether a process has been stopped by a signal.
func stopped(process int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	_, state, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && strings.HasPrefix(state, "T")
}

// TestForkedPaused: a forked process can be paused and resumed.
func TestForkedPaused(t *testing.T) {
	s, said := starter("forks"), make(chan []byte, 1)
	s.Stderr = relay(said)
	first := begin(t, s)
	if _, err := first.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	c := more(t, s)
	if _, err := c.Initialize(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	process, _ := told(t, said)
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	settled(t, func() bool { return stopped(process) }, "it is not stopped")
	if err := c.Continue(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Call(t.Context(), lock.Acquire, foreign.Params{Name: "jobs"}); err != nil || !got.Held {
		t.Errorf("%+v %v: expected that it goes on", got, err)
	}
}

// TestForksBadly: if a program declares that it forks, and does not fork correctly, the error says what was expected.
func TestForksBadly(t *testing.T) {
	for name, want := range map[string]string{
		"forks and stays in the group":  "expected it to lead one of its own, by setpgid(0, 0)",
		"forks without an error stream": "connect to the socket once more, for its standard error",
		"forks nobody":                  "connect to the socket for its standard input and output",
		"refuses to fork":               "too many",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := starter(name)
			first := begin(t, s)
			if _, err := first.Initialize(t.Context(), setup); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "forks nobody") || strings.HasPrefix(name, "forks without") {
				s.Limit = 3 * time.Second // long enough for the answers of a busy machine
			}
			c := more(t, s)
			_, err := c.Initialize(t.Context(), setup)
			var told *subprocess.ProtocolError
			if !errors.As(err, &told) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: expected one line that says %q", err, want)
			}
		})
	}
}
