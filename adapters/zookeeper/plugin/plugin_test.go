package plugin

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/model/property"
)

// server configures the ZooKeeper for the tests.
var server = gatetest.Server{Open: func() (gate.Server, error) { return Open(1) }, Require: "LOCKPROOF_REQUIRE_ZOOKEEPER", Executions: 30}

// mutex is an ephemeral node. Each hold has a session of its own.
type mutex struct {
	port    int
	looks   bool // a bug: acquire asks whether the node exists, and ignores whether creating the node succeeds
	deletes bool // a bug: release deletes the node, which may be of another client's session by then
	held    *control
}

func path(name string) []byte { return []byte("/" + url.PathEscape(name)) }

// open returns an access control list that permits everything to everyone.
func open() []byte {
	return appendBuffer(appendBuffer(appendInt(appendInt(nil, 1), 31), []byte("world")), []byte("anyone"))
}

// within closes a client's connection when the context ends.
func within(ctx context.Context, c *control) func() bool {
	return context.AfterFunc(ctx, func() { _ = c.conn.Close() })
}

func (m *mutex) Acquire(ctx context.Context, name string) (int, error) {
	c, err := connect(m.port, 0, nil)
	if err != nil {
		return 0, err
	}
	defer within(ctx, c)()
	if m.looks {
		if _, code, err := c.do(existsNode, append(appendBuffer(nil, path(name)), 0)); err != nil || code == 0 {
			return 0, errors.Join(err, c.close())
		}
	}
	_, code, err := c.do(createNode, appendInt(append(appendBuffer(appendBuffer(nil, path(name)), nil), open()...), 1))
	if err != nil {
		return 0, errors.Join(err, c.conn.Close())
	}
	if code != 0 && !m.looks {
		return 0, c.close()
	}
	if m.held != nil {
		_ = m.held.conn.Close()
	}
	m.held = c
	return 1, nil
}

func (m *mutex) Verify(ctx context.Context, name string, _ int) (bool, error) {
	if m.held == nil {
		return false, nil
	}
	defer within(ctx, m.held)()
	_, code, err := m.held.do(existsNode, append(appendBuffer(nil, path(name)), 0))
	return err == nil && code == 0, err
}

func (m *mutex) Release(ctx context.Context, name string, _ int) error {
	if m.held == nil {
		return nil
	}
	c := m.held
	m.held = nil
	defer within(ctx, c)()
	if m.deletes {
		return errors.Join(m.deletesAnybodys(ctx, name), c.conn.Close())
	}
	return c.close()
}

// deletesAnybodys deletes the node in a session of its own.
func (m *mutex) deletesAnybodys(ctx context.Context, name string) error {
	c, err := connect(m.port, 0, nil)
	if err != nil {
		return err
	}
	defer within(ctx, c)()
	_, _, err = c.do(deleteNode, appendInt(appendBuffer(nil, path(name)), -1))
	return errors.Join(err, c.close())
}

func (m *mutex) Close() error {
	if m.held == nil {
		return nil
	}
	return m.held.conn.Close()
}

func starter(like mutex) inprocess.Starter {
	return inprocess.Starter{Name: "node", New: func(_ context.Context, url string) (inprocess.Lock, error) {
		m := mutex{port: portOf(url), looks: like.looks, deletes: like.deletes}
		return &m, nil
	}}
}

func portOf(url string) int {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "zookeeper://"))
	n, _ := strconv.Atoi(port)
	return n
}

// TestLocks: a mutex with a bug violates exactly the expected property, and the correct one violates none.
func TestLocks(t *testing.T) {
	t.Run("right", func(t *testing.T) { server.Judge(t, starter(mutex{}), 0) })
	t.Run("looks first", func(t *testing.T) {
		server.Judge(t, starter(mutex{looks: true}), property.Set(0).With(property.MutualExclusion))
	})
	t.Run("deletes anybody's", func(t *testing.T) {
		server := server
		server.Executions = 150 // the session has to end before the release
		server.Judge(t, starter(mutex{deletes: true}), property.Set(0).With(property.MutualExclusion))
	})
}

// TestRepeats: if a scenario is run again, its execution is the same.
func TestRepeats(t *testing.T) { server.Repeats(t, starter(mutex{}), 6) }

// TestTime: a session ends in virtual time, forty seconds after the last reply to its client, and its nodes are
// deleted.
func TestTime(t *testing.T) {
	s := server.Start(t)
	m := &mutex{port: portOf(gatetest.URL(t, s))}
	s.Begin("")
	if slot, err := m.Acquire(t.Context(), "jobs"); slot != 1 || err != nil {
		t.Fatal(slot, err)
	}
	there := func(want int, when string) {
		t.Helper()
		if items := s.Items(); len(items) != want {
			t.Fatalf("%s: %+v", when, items)
		}
	}
	s.Advance(longestSession - 1)
	there(1, "a millisecond before the end")
	if held, err := m.Verify(t.Context(), "jobs", 1); !held || err != nil {
		t.Fatal(held, err)
	}
	s.Advance(longestSession - 1)
	there(1, "after something was heard")
	s.Advance(1)
	there(0, "at the end")
	if held, err := m.Verify(t.Context(), "jobs", 1); held || err == nil {
		t.Error("the connection has outlived its session")
	}
	m.Close()
	if err := s.Remove(nil); err != nil {
		t.Error(err)
	}
}

// TestBegins: the server is asked for a longer session timeout than its client learns. A client whose session has
// ended learns that.
func TestBegins(t *testing.T) {
	all := newSessions()
	s := protocol{all}.Session()
	ask := framed(append(appendBuffer(appendLong(appendInt(appendLong(appendInt(nil, 0), 0), 10_000), 0), make([]byte, 16)), 0))
	c, n, err := s.Command(ask)
	if err != nil || n != len(ask) || !c.Passes || (&record{c.Instead[timeAskedAt:]}).int() != hour {
		t.Fatalf("%+v, %d, %v", c, n, err)
	}
	tell := framed(append(appendBuffer(appendLong(appendInt(appendInt(nil, 0), hour), 7), make([]byte, 16)), 0))
	r, n, settles, err := s.Reply(tell)
	if err != nil || n != len(tell) || settles != 1 || (&record{r.Instead[timeToldAt:]}).int() != 10_000 || all.left(7) != 10_000 {
		t.Fatalf("%+v, %d, %d, %v", r, n, settles, err)
	}
	if over := all.advance(10_000); len(over) != 1 || over[0].id != 7 || all.left(7) != 0 {
		t.Error(over)
	}
	expired := protocol{all}.Session()
	_, _, _ = expired.Command(ask)
	gone := framed(append(appendBuffer(appendLong(appendInt(appendInt(nil, 0), 0), 0), make([]byte, 16)), 0))
	if r, _, _, err := expired.Reply(gone); err != nil || r.Words(nil) != "session expired" {
		t.Error(r, err)
	}
}

// TestNotZooKeeper: bytes of another protocol are refused at once.
func TestNotZooKeeper(t *testing.T) {
	for _, b := range []string{"ruok", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "\x00\x00\x00\x04ruok"} {
		if _, _, err := (protocol{newSessions()}).Session().Command([]byte(b)); err == nil {
			t.Errorf("%.20q is taken for ZooKeeper's", b)
		}
	}
}

// FuzzSession: no bytes from a client or a server make the parser panic or return a message longer than its input.
func FuzzSession(f *testing.F) {
	ask := framed(append(appendBuffer(appendLong(appendInt(appendLong(appendInt(nil, 0), 0), 10_000), 0), make([]byte, 16)), 0))
	tell := framed(append(appendBuffer(appendLong(appendInt(appendInt(nil, 0), hour), 7), make([]byte, 16)), 0))
	node := appendInt(append(appendBuffer(appendBuffer(appendInt(appendInt(nil, 1), createNode), path("jobs")), nil), open()...), 3)
	several := append(append(append(appendInt(nil, deleteNode), 0), appendInt(nil, -1)...), appendInt(appendBuffer(nil, path("jobs")), -1)...)
	f.Add(append(append(ask, framed(node)...), framed(append(appendInt(appendInt(nil, 2), multiple), several...))...),
		append(append(tell, framed(appendBuffer(appendInt(appendLong(appendInt(nil, 1), 9), 0), path("jobs")))...), framed(appendBuffer(appendInt(appendInt(appendInt(appendLong(appendInt(nil, watched), 9), 0), 2), 3), path("jobs")))...))
	f.Fuzz(func(t *testing.T, sent, said []byte) { gatetest.Feed(t, protocol{newSessions()}.Session(), sent, said) })
}
