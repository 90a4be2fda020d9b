package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/internal/gatetest"
)

// connect opens a connection behind a gate that lets everything pass.
func connect(t *testing.T, s gate.Server) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), gatetest.URL(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(sql, err)
	}
}

// begun begins a statement that will wait. The returned channel gets the statement's error.
func begun(conn *pgx.Conn, sql string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), sql)
		done <- err
	}()
	time.Sleep(100 * time.Millisecond) // the statement must not end by real time
	return done
}

// ends waits until a statement ends, and fails the test if its error code is another one than expected; "" means no
// error.
func ends(t *testing.T, done <-chan error, code string) {
	t.Helper()
	select {
	case err := <-done:
		e := new(pgconn.PgError)
		if got := errors.As(err, &e); err != nil && !got || e.Code != code {
			t.Errorf("%v, expected code %q", err, code)
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
}

// pending fails the test if a statement has ended.
func pending(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Error("it has ended:", err)
	default:
	}
}

// TestTime: a timeout and a sleep end when virtual time has passed, and not before.
func TestTime(t *testing.T) {
	s := server.Start(t)
	a, b := connect(t, s), connect(t, s)
	var first, second time.Time
	now := func(at *time.Time) {
		if err := a.QueryRow(t.Context(), "SELECT now()").Scan(at); err != nil {
			t.Fatal(err)
		}
	}
	now(&first)
	s.Advance(1500)
	if now(&second); second.Sub(first) != 1500*time.Millisecond {
		t.Errorf("%v have passed", second.Sub(first))
	}
	sleep := begun(a, "SELECT pg_sleep(60)")
	s.Advance(59_999)
	pending(t, sleep)
	s.Advance(1)
	ends(t, sleep, "")
	exec(t, a, "SELECT pg_advisory_lock(1)")
	exec(t, b, "SET lock_timeout = '5s'")
	late := begun(b, "SELECT pg_advisory_lock(1)")
	s.Advance(4_999)
	pending(t, late)
	s.Advance(1)
	ends(t, late, "55P03")
}

// TestDeadlock: the server finds a deadlock when deadlock_timeout has passed in virtual time.
func TestDeadlock(t *testing.T) {
	s := server.Start(t)
	a, b := connect(t, s), connect(t, s)
	exec(t, a, "SELECT pg_advisory_lock(1)")
	exec(t, b, "SELECT pg_advisory_lock(2)")
	one, two := begun(a, "SELECT pg_advisory_lock(2)"), begun(b, "SELECT pg_advisory_lock(1)")
	s.Advance(1_000)
	select {
	case err := <-one:
		ends(t, wrap(err), "40P01")
		pending(t, two)
	case err := <-two:
		ends(t, wrap(err), "40P01")
		pending(t, one)
	case <-time.After(10 * time.Second):
		t.Fatal("no deadlock is found")
	}
}

func wrap(err error) <-chan error {
	c := make(chan error, 1)
	c <- err
	return c
}

// TestEnds: the end of a connection releases its advisory locks, and a restart keeps committed rows.
func TestEnds(t *testing.T) {
	s := server.Start(t)
	s.Begin("run1-")
	a, b := connect(t, s), connect(t, s)
	exec(t, a, "CREATE TABLE \"run1-t\" (x int)")
	exec(t, a, "CREATE TABLE u (x int)")
	exec(t, a, "INSERT INTO u VALUES (1), (2)")
	exec(t, a, "SELECT pg_advisory_lock(1)")
	items := s.Items()
	if len(items) != 3 || items[0].Name != `"run1-t"` || items[1].Name != "advisory locks" || items[2].Name != "u" || items[2].Amount != 2 {
		t.Errorf("there are %v", items)
	}
	waits := begun(b, "SELECT pg_advisory_lock(1)")
	pending(t, waits)
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ends(t, waits, "")
	s.Restart()
	if b.Ping(t.Context()) == nil {
		t.Error("a connection outlives its server")
	}
	if err := s.Remove([]string{`"run1-t"`, "u"}); err != nil {
		t.Error(err)
	}
	items = s.Items()
	if len(items) != 1 || items[0].Name != "u" || items[0].Amount != 2 {
		t.Errorf("there are %v", items)
	}
}

// TestNotifications: a client that listens gets a notification, which no command of its own asked for.
func TestNotifications(t *testing.T) {
	s := server.Start(t)
	a, b := connect(t, s), connect(t, s)
	exec(t, a, "LISTEN freed")
	exec(t, b, "NOTIFY freed, 'x'")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	n, err := a.WaitForNotification(ctx)
	if err != nil || n.Payload != "x" {
		t.Error(n, err)
	}
}

// TestModes: the gate supports all ways in which clients send statements, and clients can continue after an error.
func TestModes(t *testing.T) {
	conn := connect(t, server.Start(t))
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		var n int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE $1::text = 'x'", mode, "x").Scan(&n); err != nil || n == 0 {
			t.Error(mode, n, err)
		}
		if _, err := conn.Exec(t.Context(), "SELECT nothing WHERE 1 = $1", mode, 1); err == nil {
			t.Error(mode, "expected an error")
		}
	}
	batch := new(pgx.Batch)
	for range 3 {
		batch.Queue("SELECT pg_try_advisory_lock($1)", 1)
	}
	if err := conn.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Error(err)
	}
	p := conn.PgConn().StartPipeline(t.Context())
	p.SendQueryParams("SELECT pg_advisory_unlock(1)", nil, nil, nil, nil)
	p.SendFlushRequest()
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if r, err := p.GetResults(); err != nil {
		t.Error(r, err)
	}
	p.SendQueryParams("SELECT nothing", nil, nil, nil, nil)
	p.SendFlushRequest()
	if err := p.Sync(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err == nil {
		t.Error("expected an error")
	}
	exec(t, conn, "SELECT 1")
	if _, err := conn.PgConn().CopyFrom(t.Context(), errorReader{}, "COPY pg_class FROM STDIN"); err == nil {
		t.Error("expected an error")
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("nothing to read") }
