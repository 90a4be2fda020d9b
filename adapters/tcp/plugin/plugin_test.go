package plugin_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/tcp/plugin"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// serves names an environment variable. With it, the test binary runs as a lock server, on the port given as its
// argument.
const serves = "LOCKPROOF_TEST_SERVES"

func TestMain(m *testing.M) {
	if os.Getenv(serves) != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
		if err != nil {
			panic(err)
		}
		new(locks).serve(listener)
	}
	os.Exit(m.Run())
}

// locks is a lock server whose locks belong to connections. Its protocol is made up for the test: each line is a
// command and a lock's name.
type locks struct {
	mu      sync.Mutex
	holders map[string]net.Conn
}

func (l *locks) serve(listener net.Listener) {
	l.holders = make(map[string]net.Conn)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go l.talk(conn)
	}
}

func (l *locks) talk(conn net.Conn) {
	for in := bufio.NewScanner(conn); in.Scan(); {
		word, name, _ := strings.Cut(in.Text(), " ")
		fmt.Fprintln(conn, l.do(conn, word, name))
	}
	l.mu.Lock()
	for name, holder := range l.holders {
		if holder == conn {
			delete(l.holders, name)
		}
	}
	l.mu.Unlock()
	conn.Close()
}

func (l *locks) do(conn net.Conn, word, name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch holder := l.holders[name]; {
	case word == "look" && holder == nil:
		return "free"
	case word == "look":
		return "taken"
	case word == "take" && (holder == nil || holder == conn):
		l.holders[name] = conn
		return "yes"
	case word == "seize": // this takes the lock from any holder
		l.holders[name] = conn
		return "yes"
	case word == "give" && holder == conn, word == "drop":
		delete(l.holders, name)
		return "yes"
	case word == "mine" && holder == conn:
		return "yes"
	}
	return "no"
}

// mutex is a client of the test's lock server.
type mutex struct {
	address string
	seizes  bool // a bug: acquire asks whether the lock is free, and then takes the lock in a second command
	conn    net.Conn
	in      *bufio.Reader
}

// ask writes a command in two pieces, and reads a line.
func (m *mutex) ask(ctx context.Context, word, name string) (_ string, err error) {
	if m.conn == nil {
		if m.conn, err = new(net.Dialer).DialContext(ctx, "tcp", m.address); err != nil {
			return "", err
		}
		m.in = bufio.NewReader(m.conn)
	}
	conn := m.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	_, err = fmt.Fprint(m.conn, word, " ")
	if err == nil {
		_, err = fmt.Fprintln(m.conn, name)
	}
	line := ""
	if err == nil {
		line, err = m.in.ReadString('\n')
	}
	if err != nil {
		m.conn.Close()
		m.conn = nil
	}
	return strings.TrimSpace(line), err
}

func (m *mutex) Acquire(ctx context.Context, name string) (int, error) {
	word := "take"
	if m.seizes {
		if answer, err := m.ask(ctx, "look", name); err != nil || answer != "free" {
			return 0, err
		}
		word = "seize"
	}
	answer, err := m.ask(ctx, word, name)
	if err != nil || answer != "yes" {
		return 0, err
	}
	return 1, nil
}

func (m *mutex) Verify(ctx context.Context, name string, _ int) (bool, error) {
	answer, err := m.ask(ctx, "mine", name)
	return answer == "yes", err
}

func (m *mutex) Release(ctx context.Context, name string, _ int) error {
	_, err := m.ask(ctx, "give", name)
	return err
}

func (m *mutex) Close() error {
	if m.conn == nil {
		return nil
	}
	return m.conn.Close()
}

func starter(seizes bool) inprocess.Starter {
	return inprocess.Starter{Name: "any", New: func(_ context.Context, url string) (inprocess.Lock, error) {
		return &mutex{address: strings.TrimPrefix(url, "tcp://"), seizes: seizes}, nil
	}}
}

// server is the lock server that the environment names.
var server = gatetest.Server{Open: func() (gate.Server, error) { return plugin.Open(1) }, Executions: 20}

// runs starts a lock server, and sets the environment variable to its address.
func runs(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go new(locks).serve(listener)
	t.Setenv(plugin.Env, "tcp://"+listener.Addr().String())
}

// command returns a shell command that starts a lock server.
func command(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "env " + serves + "=1 " + path + " {port}"
}

// TestLocks: on a server whose protocol is unknown, a correct lock violates no property, and a lock with a bug
// violates the expected one.
func TestLocks(t *testing.T) {
	t.Run("runs", func(t *testing.T) {
		runs(t)
		server.Judge(t, starter(false), 0)
	})
	t.Run("is started", func(t *testing.T) {
		t.Setenv(plugin.Env, command(t))
		server.Judge(t, starter(false), 0)
	})
	t.Run("wrong", func(t *testing.T) {
		runs(t)
		server.Judge(t, starter(true), property.Set(0).With(property.MutualExclusion))
	})
}

// TestRepeats: if a scenario is run again, its execution is the same, even if a client writes its commands in pieces.
func TestRepeats(t *testing.T) {
	t.Setenv(plugin.Env, command(t))
	server.Repeats(t, starter(false), 15)
}

// TestNamed: a value of the environment variable that is neither an address nor a command is refused with an error of
// one line.
func TestNamed(t *testing.T) {
	for _, bad := range []string{"", "localhost", "127.0.0.1:0", "127.0.0.1:x", "my-server", "http://127.0.0.1:80", "127.0.0.1:1"} {
		t.Setenv(plugin.Env, bad)
		if _, err := plugin.Name(); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), plugin.Env) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	t.Setenv(plugin.Env, "false {port}")
	if s, err := plugin.Open(1); err == nil {
		s.Close()
		t.Error("a server that ends at once is there")
	}
	if _, err := plugin.Open(3); err == nil {
		t.Error("there are three")
	}
}

// TestRestart: a server that lockproof has started is restarted at its port. One that ran already is not restarted.
func TestRestart(t *testing.T) {
	runs(t)
	if server.Start(t).Plays(scenario.Restart) {
		t.Error("a server that runs already is restarted")
	}
	t.Setenv(plugin.Env, command(t))
	s := server.Start(t)
	m := &mutex{address: strings.TrimPrefix(gatetest.URL(t, s), "tcp://")}
	defer m.Close()
	if slot, err := m.Acquire(t.Context(), "jobs"); slot != 1 || err != nil || !s.Plays(scenario.Restart) {
		t.Fatal(slot, err)
	}
	s.Restart()
	if _, err := m.Acquire(t.Context(), "jobs"); err == nil {
		t.Error("the connection has outlived its server")
	}
	if slot, err := m.Acquire(t.Context(), "jobs"); slot != 1 || err != nil {
		t.Error(slot, err)
	}
	if err := s.Remove(nil); err != nil {
		t.Error(err)
	}
}
