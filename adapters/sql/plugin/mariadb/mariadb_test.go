package mariadb_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/internal/gatetest"
)

// connect opens a connection behind a gate that lets everything pass.
func connect(t *testing.T, s gate.Server) *sql.Conn {
	t.Helper()
	c, err := open(gatetest.URL(t, s))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.connected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return conn
}

func exec(t *testing.T, conn *sql.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), sql, args...); err != nil {
		t.Fatal(sql, err)
	}
}

// begun begins a query that will wait. The returned channel gets the query's error, or the error "0" if its result is
// 0.
func begun(conn *sql.Conn, sql string, args ...any) <-chan error {
	done := make(chan error, 1)
	go func() {
		var n any
		err := conn.QueryRowContext(context.Background(), sql, args...).Scan(&n)
		if b, ok := n.([]byte); ok && string(b) == "0" || n == int64(0) {
			err = errors.New("0")
		}
		done <- err
	}()
	time.Sleep(100 * time.Millisecond) // the query must not end by real time
	return done
}

// ends waits until a query ends, and fails the test if its error is another one than expected; "" means no error.
func ends(t *testing.T, done <-chan error, with string) {
	t.Helper()
	select {
	case err := <-done:
		said := ""
		if err != nil {
			said = err.Error()
		}
		if e := new(mysql.MySQLError); errors.As(err, &e) {
			said = string(e.SQLState[:])
		}
		if said != with {
			t.Errorf("%v, expected %q", err, with)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
}

// pending fails the test if a query has ended.
func pending(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Error("it has ended:", err)
	default:
	}
}

// TestGreeting: the server's greeting counts as underway until the client has received it.
func TestGreeting(t *testing.T) {
	t.Parallel()
	s := server.Start(t)
	for range 20 {
		a, err := s.Listen(gatetest.Open{}, gate.Limits{Connections: 1, Handshake: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		urls, err := a.URLs()
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(urls[0])
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		for a.(gate.Watched).Underway() {
			time.Sleep(10 * time.Microsecond)
		}
		greeted := make([]byte, 1)
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := conn.Read(greeted); err != nil {
			t.Error("nothing is on its way to a client that nobody has greeted:", err)
		}
		conn.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTime: a timeout and a sleep end when virtual time has passed, and not before.
func TestTime(t *testing.T) {
	t.Parallel()
	s := server.Start(t)
	a, b := connect(t, s), connect(t, s)
	exec(t, a, "DO GET_LOCK('x', 0)")
	late := begun(b, "SELECT GET_LOCK(?, ?)", "x", 5)
	s.Advance(4_999)
	pending(t, late)
	s.Advance(1)
	ends(t, late, "0")
	sleep := begun(a, "SELECT SLEEP(60) + 1")
	s.Advance(59_999)
	pending(t, sleep)
	s.Advance(1)
	ends(t, sleep, "")
}

// TestRows: a client waits for the lock of a row until the lock is released, or until a timeout in virtual time.
func TestRows(t *testing.T) {
	t.Parallel()
	s := server.Start(t)
	a, b := connect(t, s), connect(t, s)
	s.Begin("run1-")
	exec(t, a, "CREATE TABLE t (x INT PRIMARY KEY)")
	exec(t, a, "INSERT INTO t VALUES (?)", 1)
	exec(t, a, "CREATE TABLE `run1-t` (x INT PRIMARY KEY)")
	exec(t, a, "START TRANSACTION")
	exec(t, a, "SELECT x FROM t WHERE x = ? FOR UPDATE", 1)
	waits := begun(b, "SELECT x FROM t WHERE x = ? FOR UPDATE", 1)
	pending(t, waits)
	exec(t, a, "COMMIT")
	ends(t, waits, "")
	exec(t, a, "START TRANSACTION")
	exec(t, a, "SELECT x FROM t WHERE x = ? FOR UPDATE", 1)
	waits = begun(b, "SELECT x FROM t WHERE x = ? FOR UPDATE", 1)
	s.Advance(49_000)
	pending(t, waits)
	s.Advance(1_000)
	ends(t, waits, "HY000")
	items := s.Items()
	if len(items) != 2 || items[0].Name != "run1-t" || items[1].Name != "t" || items[1].Amount != 1 {
		t.Errorf("there are %v", items)
	}
	exec(t, a, "COMMIT")
	s.Restart()
	if b.PingContext(t.Context()) == nil {
		t.Error("a connection outlives its server")
	}
	if err := s.Remove([]string{"run1-t", "t"}); err != nil {
		t.Error(err)
	}
	if items = s.Items(); len(items) != 1 || items[0].Name != "t" || items[0].Amount != 1 {
		t.Errorf("there are %v", items)
	}
}
