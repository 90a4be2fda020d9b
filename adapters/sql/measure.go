package databases

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/measure"
	"github.com/lockproof/lockproof/model/lock"
	model "github.com/lockproof/lockproof/model/sql"
	sim "github.com/lockproof/lockproof/sim/sql"
)

// Measured is a server whose locks are measured. The rows of all locks are in the same tables, as in one application.
// Sessions use the server's own settings, so that a commit is as durable as usual.
type Measured struct {
	database *Database
	name     string
	locks    atomic.Int64 // number of locks made so far
}

// Measured makes a database for the locks to measure. [Measured.Close] drops it.
func (s *Server) Measured(ctx context.Context) (*Measured, error) {
	d, err := s.Database(ctx)
	if err != nil {
		return nil, err
	}
	m := &Measured{database: d}
	if m.name, err = d.durability(ctx); err != nil {
		return nil, fmt.Errorf("asking %v how durable commits are: %w", s, errors.Join(err, d.Close()))
	}
	return m, nil
}

// durability returns the server's name, with the setting that decides how long a commit takes.
func (d *Database) durability(ctx context.Context) (string, error) {
	pool, err := d.open(d.Name, &line{timed: true})
	if err != nil {
		return "", err
	}
	defer pool.Close()
	setting := [...]string{model.MariaDB: "@@innodb_flush_log_at_trx_commit", model.Postgres: "current_setting('synchronous_commit')"}[d.Dialect]
	var value string
	err = pool.QueryRowContext(ctx, "SELECT "+setting).Scan(&value)
	name := [...]string{model.MariaDB: "innodb_flush_log_at_trx_commit", model.Postgres: "synchronous_commit"}[d.Dialect]
	return fmt.Sprintf("%v (%s=%s)", d.Server, name, value), err
}

// Close drops the database. Its locks must be closed.
func (m *Measured) Close() error { return m.database.Close() }

// Name implements [measure.Server].
func (m *Measured) Name() string { return m.name }

// Lock implements [measure.Server].
func (m *Measured) Lock(ctx context.Context, t *lock.Target, lease time.Duration) (measure.Lock, error) {
	l := &measuredLock{database: m.database, target: t, number: int(m.locks.Add(1))}
	one := l.machine()
	l.millisecond = (lease + time.Duration(one.Lease()) - 1) / time.Duration(one.Lease())
	for _, c := range one.Rows() {
		if err := l.database.write(ctx, c.Text(l.database.Dialect, l.number)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// write carries out a statement on any free connection, since several locks may be made at once.
func (d *Database) write(ctx context.Context, statement string) error {
	if _, err := d.pool.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// measuredLock is one lock. Its rows have the lock's number as lock_key.
type measuredLock struct {
	database    *Database
	target      *lock.Target
	number      int
	millisecond time.Duration // real duration of a millisecond of the model
}

func (l *measuredLock) machine() *sim.Client { return sim.NewClient(l.target, l.database.Dialect, 1) }

// Lease implements [measure.Lock].
func (l *measuredLock) Lease() time.Duration {
	return time.Duration(l.machine().Lease()) * l.millisecond
}

// Close implements [measure.Lock].
func (l *measuredLock) Close() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
	defer cancel()
	for t := range model.Tables {
		err = errors.Join(err, l.database.write(ctx, fmt.Sprintf("DELETE FROM %v WHERE lock_key = %d", t, l.number)))
	}
	return err
}

// Client implements [measure.Lock].
func (l *measuredLock) Client(ctx context.Context, number int) (measure.Client, error) {
	s := l.database.session(ctx, l.number-1)
	s.line.timed, s.tokens = true, number*sim.ClientTokens
	c := &measuredClient{machine: l.machine(), session: s, passed: time.Now(), millisecond: l.millisecond}
	err := s.open(ctx, c.machine.Level())
	if err == nil {
		_, err = c.Do(ctx, lock.Connect)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// measuredClient is a lock machine with its session on the server.
type measuredClient struct {
	machine     *sim.Client
	session     *Session
	passed      time.Time // real time up to which the machine's virtual clock has advanced
	millisecond time.Duration
	commands    int
}

// pass advances the machine's clock to the present.
func (c *measuredClient) pass() {
	ms := time.Since(c.passed) / c.millisecond
	c.passed = c.passed.Add(ms * c.millisecond)
	c.machine.Pass(int64(ms))
}

// Do implements [measure.Client].
func (c *measuredClient) Do(ctx context.Context, op lock.Op) (lock.Result, error) {
	c.pass()
	c.machine.Start(op)
	for {
		if r, done := c.machine.Result(); done {
			return r, nil
		}
		command := c.machine.Next()
		command.Lease *= c.millisecond.Microseconds()
		reply, err := c.session.do(ctx, &command)
		if err != nil {
			return lock.Result{}, err
		}
		c.commands++
		c.pass()
		c.machine.Apply(reply)
	}
}

// Spent implements [measure.Client]. Each command waits for its reply.
func (c *measuredClient) Spent() measure.Spent {
	return c.session.line.traffic.Add(measure.Spent{Commands: c.commands, RoundTrips: c.commands})
}

// Kill implements [measure.Client]. The client's locks stay until their leases end.
func (c *measuredClient) Kill() { c.session.Cut() }

// Close implements [measure.Client].
func (c *measuredClient) Close() { c.session.Close() }
