package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/sql/plugin/postgres"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/internal/waittest"
	"github.com/lockproof/lockproof/model/property"
)

var server = gatetest.Server{Open: func() (gate.Server, error) { return postgres.Open(1) }, Require: "LOCKPROOF_REQUIRE_POSTGRES"}

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }

// client is a client of PostgreSQL. If its connection is lost, it connects again.
type client struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
}

func (c *client) connected(ctx context.Context) (_ *pgx.Conn, err error) {
	if c.conn == nil || c.conn.IsClosed() {
		c.conn, err = pgx.ConnectConfig(ctx, c.config)
	}
	return c.conn, err
}

func (c *client) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	conn, err := c.connected(ctx)
	if err != nil {
		return 0, err
	}
	tag, err := conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

// is carries out a query whose result is a boolean. No row counts as false.
func (c *client) is(ctx context.Context, sql string, args ...any) (yes bool, err error) {
	conn, err := c.connected(ctx)
	if err != nil {
		return false, err
	}
	err = conn.QueryRow(ctx, sql, args...).Scan(&yes)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return yes, err
}

func (c *client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close(context.Background())
}

// starter returns a starter of locks, each with its own client.
func starter(name string, lock func(client) inprocess.Lock) inprocess.Starter {
	return inprocess.Starter{Name: name, New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			return nil, err
		}
		c := client{config: config}
		_, err = c.exec(ctx, "CREATE TABLE IF NOT EXISTS locks (name text PRIMARY KEY, token text, until timestamptz)")
		return lock(c), err
	}}
}

// advisory is a mutex that uses a session's advisory lock.
type advisory struct {
	client
	held *pgx.Conn // the connection that holds the lock; nil if none
}

func key(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64())
}

// got returns the result of an acquire: slot 1 if ok is true, otherwise 0. If ok is true, it records that the current
// connection holds the lock.
func (a *advisory) got(ok bool, err error) (int, error) {
	if err != nil || !ok {
		return 0, err
	}
	a.held = a.conn
	return 1, nil
}

func (a *advisory) Acquire(ctx context.Context, name string) (int, error) {
	return a.got(a.is(ctx, "SELECT pg_try_advisory_lock($1)", key(name)))
}

func (a *advisory) Verify(ctx context.Context, name string, _ int) (bool, error) {
	if a.held == nil || a.held != a.conn || a.conn.IsClosed() {
		return false, nil
	}
	yes, err := a.is(ctx, "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()")
	return err == nil && yes, nil
}

func (a *advisory) Release(ctx context.Context, name string, _ int) error {
	if a.held == nil || a.held != a.conn || a.conn.IsClosed() {
		return nil
	}
	_, err := a.is(ctx, "SELECT pg_advisory_unlock($1)", key(name))
	return err
}

// waiting is an [advisory] mutex whose clients can wait until it is free.
type waiting struct{ advisory }

func (w *waiting) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (int, error) {
	if _, err := w.exec(ctx, fmt.Sprintf("SET lock_timeout = %d", timeout.Milliseconds())); err != nil {
		return 0, err
	}
	_, err := w.exec(ctx, "SELECT pg_advisory_lock($1)", key(name))
	if late := new(pgconn.PgError); errors.As(err, &late) && late.Code == "55P03" {
		return 0, nil
	}
	return w.got(true, err)
}

// TestAdvisory: mutexes that use advisory locks violate no property, whether their clients wait or not.
func TestAdvisory(t *testing.T) {
	t.Parallel()
	server.Judge(t, starter("advisory", func(c client) inprocess.Lock { return &advisory{client: c} }), 0)
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	server := server
	server.Executions = 60 // few, since clients that wait take long
	server.Judge(t, starter("waiting", func(c client) inprocess.Lock { return &waiting{advisory{client: c}} }), 0)
}

// leased is a mutex that is a row of a table, with a token and a lease.
type leased struct {
	client
	*design
	token string
}

// design is a way to acquire and release the lease, with or without a bug.
type design struct {
	name    string
	claim   func(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error)
	release string
	wrong   property.Set
}

func (l *leased) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	l.token = rand.Text()
	if ok, err := l.claim(ctx, l, name, lease); !ok || err != nil {
		return 0, err
	}
	return 1, nil
}

func (l *leased) Acquire(ctx context.Context, name string) (int, error) {
	return l.AcquireFor(ctx, name, time.Minute)
}

func (l *leased) Verify(ctx context.Context, name string, _ int) (bool, error) {
	return l.is(ctx, "SELECT token = $2 AND until > now() FROM locks WHERE name = $1", name, l.token)
}

func (l *leased) Release(ctx context.Context, name string, _ int) error {
	_, err := l.exec(ctx, l.design.release, name, l.token)
	return err
}

const (
	upsert = "INSERT INTO locks AS l VALUES ($1, $2, now() + $3 * interval '1 millisecond') " +
		"ON CONFLICT (name) DO UPDATE SET token = excluded.token, until = excluded.until"
	own     = "DELETE FROM locks WHERE name = $1 AND token = $2"
	anyones = "DELETE FROM locks WHERE name = $1 AND $2 <> ''"
)

// inOne acquires the row in one statement, if the row is free or its lease is over.
func inOne(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error) {
	n, err := l.exec(ctx, upsert+" WHERE l.until <= now()", name, l.token, lease.Milliseconds())
	return n > 0, err
}

// inTwo is an acquire with a bug: it reads whether the row is free, and then writes the row in a second statement.
func inTwo(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error) {
	taken, err := l.is(ctx, "SELECT until > now() FROM locks WHERE name = $1", name)
	if err != nil || taken {
		return false, err
	}
	_, err = l.exec(ctx, upsert, name, l.token, lease.Milliseconds())
	return err == nil, err
}

// TestLeases: a mutex with a bug violates exactly the expected property, and a correct one violates none.
func TestLeases(t *testing.T) {
	wrong := property.Set(0).With(property.MutualExclusion)
	for _, d := range []design{
		{name: "right", claim: inOne, release: own},
		{name: "asks, then inserts", claim: inTwo, release: own, wrong: wrong},
		{name: "deletes anybody's", claim: inOne, release: anyones, wrong: wrong},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			server.Judge(t, starter(d.name, func(c client) inprocess.Lock { return &leased{client: c, design: &d} }), d.wrong)
		})
	}
}
