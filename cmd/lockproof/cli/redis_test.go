//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/redis/node"
	"github.com/lockproof/lockproof/internal/redistest"
)

// envOnRedis is an environment variable that makes this test binary an adapter of a mutex on Redis. Its value is the
// name of a bug, or "none".
const envOnRedis = "LOCKPROOF_TEST_ON_REDIS"

// onRedis returns the command that starts this test binary as an adapter of a mutex on Redis, with the given bug. ""
// means no bug.
func onRedis(bug string) string {
	return fmt.Sprintf("%s=%s exec '%s'", envOnRedis, cmp.Or(bug, "none"), os.Args[0])
}

// keyMutex is a client of a mutex on Redis. The lock is a key with an expiry, set on the majority of the servers.
type keyMutex struct {
	servers []net.Conn
	token   string
	grants  int
	bug     string
}

const (
	isOurs     = `return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0`
	deleteOurs = `return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0`
)

// connect connects to Redis servers. With the bug "amqp" it sends them the greeting of AMQP, which they do not
// understand.
func (m *keyMutex) connect(urls []string) error {
	if at := os.Getenv("REDIS_AT"); at != "" {
		urls = []string{at}
	}
	for _, address := range urls {
		at, err := url.Parse(address)
		if err != nil {
			return err
		}
		c, err := net.Dial("tcp", at.Host)
		if err != nil {
			return err
		}
		m.servers = append(m.servers, c)
		if m.bug == "amqp" {
			if _, err := c.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
				return err
			}
			if _, err := c.Read(make([]byte, 1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// most reports whether the majority of the servers reply to a command with the given line.
func (m *keyMutex) most(reply string, args ...string) (bool, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	yes := 0
	for _, c := range m.servers {
		if _, err := c.Write([]byte(b.String())); err != nil {
			return false, err
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			return false, err
		}
		if strings.TrimSpace(line) == reply {
			yes++
		}
	}
	return yes > len(m.servers)/2, nil
}

// answer executes one request to the adapter and returns its result.
func (m *keyMutex) answer(method string, urls []string, lock, name string, ttl int64) (result any, err error) {
	held := map[string]any{"held": false}
	switch method {
	case "initialize":
		return map[string]any{
			"name": "a key, " + m.bug, "locks": []string{lock}, "operations": []string{"acquire", "verify", "release"}, "leases": true,
		}, m.connect(urls)
	case "acquire":
		m.grants++
		m.token = fmt.Sprintf("%d-%d", os.Getpid(), m.grants)
		held["slot"] = 1
		held["held"], err = m.most("+OK", "SET", name, m.token, "NX", "PX", fmt.Sprint(ttl))
	case "verify":
		held["held"], err = m.most(":1", "EVAL", isOurs, "1", name, m.token)
	case "release":
		if m.bug == "anybody" {
			_, err = m.most(":1", "DEL", name)
		} else {
			_, err = m.most(":1", "EVAL", deleteOurs, "1", name, m.token)
		}
		return struct{}{}, err
	default:
		return nil, fmt.Errorf("no method %s", method)
	}
	return held, err
}

// serveOnRedis answers requests until its input ends.
func serveOnRedis(bug string) {
	m := &keyMutex{bug: bug}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var call struct {
			ID     int
			Method string
			Params struct {
				URL, Lock, Name string
				URLs            []string
				TTL             int64
			}
		}
		if err := json.Unmarshal(in.Bytes(), &call); err != nil {
			panic(err)
		}
		p := call.Params
		if len(p.URLs) == 0 {
			p.URLs = []string{p.URL}
		}
		line := map[string]any{"jsonrpc": "2.0", "id": call.ID}
		if result, err := m.answer(call.Method, p.URLs, p.Lock, p.Name, p.TTL); err != nil {
			line["error"] = map[string]any{"code": -32603, "message": err.Error()}
		} else {
			line["result"] = result
		}
		if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
			panic(err)
		}
	}
	if bug == "tidy" {
		_, _ = m.answer("release", nil, "", "jobs", 0) // the result is ignored: the input has ended
	}
}

// came runs a command line and returns its exit code and output.
func came(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(args, &o, &e)
	return code, o.String(), e.String()
}

// TestOnRedis checks that a wrong lock on Redis is found, and that its counterexample replays on Redis. A correct lock
// must be proved.
func TestOnRedis(t *testing.T) {
	t.Parallel()
	redistest.Program(t)
	dir := t.TempDir()
	code, out, errs := came(t, "prove", "--exec", onRedis("anybody"), "--server", "redis", "--property", "mutual-exclusion", "--seed", "10", "--first", "--out", dir)
	if code != exitViolated || !strings.Contains(out, "on Redis ") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q: %v", files, err)
	}
	if code, out, errs = came(t, "replay", "--run-exec", files[0]); code != exitViolated || !strings.Contains(out, "SET jobs") {
		t.Errorf("replayed: exit code %d\n%s%s", code, out, errs)
	}
	if code, out, errs = came(t, "explore", "--exec", onRedis(""), "--server", "redis", "--out", dir); code != exitHolds || !strings.Contains(out, "proved") {
		t.Errorf("explored, without the bug: exit code %d\n%s%s", code, out, errs)
	}
}

// TestAdapterCheckOnRedis runs adapter-check for locks on Redis, where the end of a client frees nothing before its
// lease is over.
func TestAdapterCheckOnRedis(t *testing.T) {
	t.Parallel()
	redistest.Program(t)
	for bug, test := range map[string]struct {
		code int
		says []string
	}{
		"": {exitHolds, []string{
			"initialize a key, none: mutex; acquire, verify, release; with leases", "acquire jobs, ttl 30000 {\"held\":true,\"slot\":1}",
			"uses the server connections so far: 1", "16 green, 0 red, 0 skipped",
		}},
		"amqp": {exitViolated, []string{"it speaks another protocol: this is not Redis's (RESP)", "say by --server which kind of server the lock uses"}},
		"tidy": {exitViolated, []string{"the process sent commands and ended", "releasing nothing on purpose"}},
	} {
		code, out, errs := came(t, "adapter-check", "--exec", onRedis(bug), "--server", "redis")
		for _, say := range test.says {
			if code != test.code || !strings.Contains(strings.Join(strings.Fields(out), " "), say) {
				t.Errorf("%q: exit code %d, expected %q in\n%s%s", bug, code, say, out, errs)
			}
		}
	}
}

// TestServerErrors checks that what cannot be judged on a server is refused in one line that says what to do. No files
// may be left.
func TestServerErrors(t *testing.T) {
	redistest.Program(t)
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	nothing, uncompiled := t.TempDir(), t.TempDir()
	if err := os.Symlink(program, filepath.Join(uncompiled, "redis-server")); err != nil {
		t.Fatal(err)
	}
	elsewhere := nobodys(t)
	aside := fmt.Sprintf("%s=none REDIS_AT=%s exec '%s'", envOnRedis, elsewhere, os.Args[0])
	for _, test := range []struct{ args, path, says string }{
		{"--server redis --exec true", nothing, "no redis-server is installed (Debian's package redis-server has it)"},
		{"--server redis --exec true", uncompiled, "that takes Linux and a C compiler (such as Debian's package gcc)"},
		{"--server redis --exec AMQP", "", "it speaks another protocol: this is not Redis's (RESP): a line that begins with \"AMQP\\x00\\x00\\t\\x01\" (--server)\n"},
		{"--server redis --exec ASIDE", "", "the client sends nothing to the address that it was given"},
		{"--servers 8 --exec true", "", `"--servers" flag: expected a number, 1 to 7`},
	} {
		for _, command := range []string{"prove", "explore"} {
			t.Run(command+" "+test.args, func(t *testing.T) {
				temporary := t.TempDir()
				t.Setenv("TMPDIR", temporary)
				if test.path != "" {
					t.Setenv("PATH", test.path)
				}
				args := []string{command, "--out", filepath.Join(temporary, "out")}
				for _, word := range strings.Fields(test.args) {
					switch word {
					case "AMQP":
						word = onRedis("amqp")
					case "ASIDE":
						word = aside
					}
					args = append(args, word)
				}
				code, out, errs := came(t, args...)
				if code != exitCannot || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, test.says) || out != "" {
					t.Errorf("exit code %d, %q, expected %q in it\n%s", code, errs, test.says, out)
				}
				if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
					t.Errorf("%v is left; %v", left, err)
				}
			})
		}
	}
}

// nobodys starts a Redis that the run under test does not know, and returns its address.
func nobodys(t *testing.T) string {
	t.Helper()
	n, err := node.New()
	if err == nil {
		err = n.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	})
	return n.URL()
}

// TestKilledOnRedis checks that the servers of a run end when the run is killed.
func TestKilledOnRedis(t *testing.T) {
	t.Parallel()
	redistest.Program(t)
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("skipped: -short leaves out what is killed, and elsewhere servers have no clock of ours")
	}
	cmd := exec.Command(os.Args[0], "prove", "--exec", onRedis(""), "--server", "redis", "--servers", "2", "--workers", "2", "--scenarios", "1000000", "--out", t.TempDir())
	cmd.Env = append(os.Environ(), asCommand+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "two servers for each worker", func() bool { return len(serversOf(cmd.Process.Pid)) >= 4 })
	servers := serversOf(cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the error only says that the process was killed
	waitFor(t, "the end of the servers", func() bool {
		return !slices.ContainsFunc(servers, func(pid string) bool { return status(pid, "Name") == "redis-server" })
	})
}

// waitFor waits until so returns true, at most 30 seconds.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

// serversOf returns the Redis servers that a process has started.
func serversOf(parent int) (all []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range processes {
		pid := filepath.Base(path)
		if status(pid, "Name") == "redis-server" && status(pid, "PPid") == strconv.Itoa(parent) {
			all = append(all, pid)
		}
	}
	return all
}

// status returns a field of a process's status in /proc; "" if the process has ended.
func status(pid, what string) string {
	data, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, what+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
