package mariadb_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/sql/plugin/mariadb"
	"github.com/lockproof/lockproof/internal/gatetest"
	"github.com/lockproof/lockproof/internal/waittest"
	"github.com/lockproof/lockproof/model/property"
)

func TestMain(m *testing.M) { os.Exit(waittest.Run(m)) }

var server = gatetest.Server{Open: func() (gate.Server, error) { return mariadb.Open(1) }, Require: "LOCKPROOF_REQUIRE_MARIADB"}

// client is a client of MariaDB. If its connection is lost, it connects again.
type client struct {
	pool *sql.DB
	conn *sql.Conn
}

// open returns a client of the server at a URL.
func open(at string) (*client, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.Logger = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/"), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	return &client{pool: pool}, nil
}

func (c *client) connected(ctx context.Context) (_ *sql.Conn, err error) {
	if c.conn == nil {
		c.conn, err = c.pool.Conn(ctx)
	}
	return c.conn, err
}

// did handles the error of a command. Unless the server has returned the error, it drops the connection, since the
// command's outcome is unknown.
func (c *client) did(err error) error {
	if said := new(mysql.MySQLError); err != nil && !errors.As(err, &said) && c.conn != nil {
		_ = c.conn.Raw(func(any) error { return sql.ErrConnDone })
		_ = c.conn.Close()
		c.pool.SetMaxIdleConns(0)
		c.conn = nil
	}
	return err
}

func (c *client) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	conn, err := c.connected(ctx)
	if err != nil {
		return 0, c.did(err)
	}
	done, err := conn.ExecContext(ctx, sql, args...)
	if err != nil {
		return 0, c.did(err)
	}
	return done.RowsAffected()
}

// is carries out a query whose result is a number, and reports whether that is not 0. NULL and no row count as 0.
func (c *client) is(ctx context.Context, ask string, args ...any) (bool, error) {
	conn, err := c.connected(ctx)
	if err != nil {
		return false, c.did(err)
	}
	var n sql.NullInt64
	err = conn.QueryRowContext(ctx, ask, args...).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return n.Int64 != 0, c.did(err)
}

func (c *client) Close() error { return c.pool.Close() }

// starter returns a starter of locks, each with its own client.
func starter(name string, lock func(*client) inprocess.Lock) inprocess.Starter {
	return inprocess.Starter{Name: name, New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := open(url)
		if err != nil {
			return nil, err
		}
		_, err = c.exec(ctx, "CREATE TABLE IF NOT EXISTS locks (name VARCHAR(200) PRIMARY KEY, token VARCHAR(50), until DATETIME(3))")
		return lock(c), err
	}}
}

// userLevel is a mutex that uses GET_LOCK, a lock that belongs to a session.
type userLevel struct {
	*client
	held *sql.Conn // the connection that holds the lock; nil if none
}

func (u *userLevel) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (int, error) {
	ok, err := u.is(ctx, "SELECT GET_LOCK(?, ?)", name, timeout.Seconds())
	if err != nil || !ok {
		return 0, err
	}
	u.held = u.conn
	return 1, nil
}

func (u *userLevel) Acquire(ctx context.Context, name string) (int, error) {
	return u.AcquireWithin(ctx, name, 0)
}

func (u *userLevel) Verify(ctx context.Context, name string, _ int) (bool, error) {
	if u.held == nil || u.held != u.conn {
		return false, nil
	}
	yes, err := u.is(ctx, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", name)
	return err == nil && yes, nil
}

func (u *userLevel) Release(ctx context.Context, name string, _ int) error {
	if u.held == nil || u.held != u.conn {
		return nil
	}
	_, err := u.is(ctx, "SELECT RELEASE_LOCK(?)", name)
	return err
}

// TestUserLevel: a mutex that uses GET_LOCK violates no property.
func TestUserLevel(t *testing.T) {
	t.Parallel()
	server := server
	server.Executions = 60 // few, since clients that wait take long
	server.Judge(t, starter("user-level", func(c *client) inprocess.Lock { return &userLevel{client: c} }), 0)
}

// patient is a mutex that uses GET_LOCK with a timeout of ten seconds, whatever timeout is asked for.
type patient struct{ lock *userLevel }

func (p patient) Acquire(ctx context.Context, name string) (int, error) {
	return p.lock.AcquireWithin(ctx, name, 10*time.Second)
}

func (p patient) Verify(ctx context.Context, name string, slot int) (bool, error) {
	return p.lock.Verify(ctx, name, slot)
}

func (p patient) Release(ctx context.Context, name string, slot int) error {
	return p.lock.Release(ctx, name, slot)
}

func (p patient) Close() error { return p.lock.Close() }

// TestPatient: the server's virtual time passes while it keeps a client waiting, although the client uses the
// machine's clock.
func TestPatient(t *testing.T) {
	t.Parallel()
	server := server
	server.Executions = 20
	server.Judge(t, starter("patient", func(c *client) inprocess.Lock { return patient{&userLevel{client: c}} }), 0)
}

// leased is a mutex that is a row of a table, with a token and a lease.
type leased struct {
	*client
	*design
	token string
}

// design is a way to acquire the lease, with or without a bug.
type design struct {
	name  string
	claim func(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error)
	wrong property.Set
}

func (l *leased) AcquireFor(ctx context.Context, name string, lease time.Duration) (int, error) {
	l.token = rand.Text()
	if _, err := l.exec(ctx, "INSERT IGNORE INTO locks VALUES (?, '', '2000-01-01')", name); err != nil {
		return 0, err
	}
	if ok, err := l.claim(ctx, l, name, lease); !ok || err != nil {
		return 0, err
	}
	return 1, nil
}

func (l *leased) Acquire(ctx context.Context, name string) (int, error) {
	return l.AcquireFor(ctx, name, time.Minute)
}

func (l *leased) Verify(ctx context.Context, name string, _ int) (bool, error) {
	return l.is(ctx, "SELECT token = ? AND until > NOW(3) FROM locks WHERE name = ?", l.token, name)
}

func (l *leased) Release(ctx context.Context, name string, _ int) error {
	_, err := l.exec(ctx, "UPDATE locks SET until = '2000-01-01' WHERE name = ? AND token = ?", name, l.token)
	return err
}

const (
	update = "UPDATE locks SET token = ?, until = NOW(3) + INTERVAL ? * 1000 MICROSECOND WHERE name = ?"
	free   = "until <= NOW(3)"
)

// inOne acquires the row in one statement, if the row's lease is over.
func inOne(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error) {
	n, err := l.exec(ctx, update+" AND "+free, l.token, lease.Milliseconds(), name)
	return n > 0, err
}

// inTwo is an acquire with a bug: it reads whether the lease is over, and then updates the row in a second statement.
func inTwo(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error) {
	ok, err := l.is(ctx, "SELECT "+free+" FROM locks WHERE name = ?", name)
	if err != nil || !ok {
		return false, err
	}
	_, err = l.exec(ctx, update, l.token, lease.Milliseconds(), name)
	return err == nil, err
}

// inTransaction reads whether the lease is over with SELECT FOR UPDATE, and then updates the row in the same
// transaction.
func inTransaction(ctx context.Context, l *leased, name string, lease time.Duration) (bool, error) {
	ok, err := unended(ctx, l, name, lease)
	if err != nil {
		l.exec(ctx, "ROLLBACK")
	}
	return ok, err
}

// unended is inTransaction with a bug: after an error, such as a lock timeout, the transaction stays open. The client's
// next statement locks the row, and nothing unlocks it.
func unended(ctx context.Context, l *leased, name string, lease time.Duration) (ok bool, err error) {
	if _, err = l.exec(ctx, "START TRANSACTION"); err != nil {
		return false, err
	}
	if ok, err = l.is(ctx, "SELECT "+free+" FROM locks WHERE name = ? FOR UPDATE", name); err != nil {
		return false, err
	}
	if ok {
		if _, err = l.exec(ctx, update, l.token, lease.Milliseconds(), name); err != nil {
			return false, err
		}
	}
	_, err = l.exec(ctx, "COMMIT")
	return ok && err == nil, err
}

// TestLeases: a mutex with a bug violates exactly the expected property, and a correct one violates none.
func TestLeases(t *testing.T) {
	for _, d := range []design{
		{name: "right", claim: inOne},
		{name: "asks, with the row locked", claim: inTransaction},
		{name: "leaves its transaction open", claim: unended, wrong: property.Set(0).With(property.Progress)},
		{name: "asks, then updates", claim: inTwo, wrong: property.Set(0).With(property.MutualExclusion)},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			server.Judge(t, starter(d.name, func(c *client) inprocess.Lock { return &leased{client: c, design: &d} }), d.wrong)
		})
	}
}
