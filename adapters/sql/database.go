package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	model "github.com/lockproof/lockproof/model/sql"
)

// Database is a database that one run has made on a server, with the tables of model/sql.
type Database struct {
	*Server
	Name  string
	admin *sql.DB
	alive *sql.Conn // holds the lock that shows other runs that this run is alive
	pool  *sql.DB
	watch *sql.Conn // connection for asking which sessions wait for a lock
}

// Database makes a database. Before that, it drops the databases that ended runs have left.
func (s *Server) Database(ctx context.Context) (*Database, error) {
	limited, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	admin, err := s.open("", nil)
	if err != nil {
		return nil, err
	}
	d := &Database{Server: s, Name: newName(time.Now()), admin: admin}
	if err := d.make(limited); err != nil {
		return nil, errors.Join(fmt.Errorf("making a database on %s: %w", redact(s.URL), err), admin.Close())
	}
	if err := d.setUp(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// setUpLimit is the maximum time to make a database, and to drop those that ended runs have left.
const setUpLimit = time.Minute

// make drops the databases of ended runs and makes this run's database. Before the database exists, the run takes the
// lock that shows that it is alive.
func (d *Database) make(ctx context.Context) (err error) {
	if d.alive, err = d.admin.Conn(ctx); err != nil {
		return err
	}
	if _, err := d.alive.ExecContext(ctx, lasting[d.Dialect]); err != nil {
		return fmt.Errorf("having the server keep an idle session: %w", err)
	}
	if err := d.sweep(ctx, d.alive); err != nil {
		return err
	}
	if err := d.claim(ctx, d.alive, d.Name); err != nil {
		return err
	}
	return d.create(ctx, d.alive, d.Name)
}

func (d *Database) setUp(ctx context.Context) (err error) {
	if d.pool, err = d.open(d.Name, nil); err != nil {
		return err
	}
	if d.watch, err = d.pool.Conn(ctx); err != nil {
		return err
	}
	for _, s := range model.Schema(d.Dialect) {
		if err := d.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// dropLimit is the maximum time to drop a database.
const dropLimit = 30 * time.Second

// Close drops the database. Its sessions must be closed before.
func (d *Database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), dropLimit)
	defer cancel()
	var err error
	if d.watch != nil {
		err = d.watch.Close()
	}
	if d.pool != nil {
		err = errors.Join(err, d.pool.Close())
	}
	admin, failed := d.admin.Conn(ctx)
	if failed == nil {
		failed = errors.Join(d.drop(ctx, admin, d.Name), admin.Close())
	}
	_ = d.alive.Close() // the server may have ended the connection
	return errors.Join(err, failed, d.admin.Close())
}

// Exec carries out a statement on the connection that no session uses.
func (d *Database) Exec(ctx context.Context, statement string) error {
	if _, err := d.watch.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Now returns the time of the server's clock, in microseconds since 1970.
func (d *Database) Now(ctx context.Context) (now int64, err error) {
	clock := [...]string{model.MariaDB: "SYSDATE(6)", model.Postgres: "clock_timestamp()"}[d.Dialect]
	err = d.watch.QueryRowContext(ctx, "SELECT "+model.Micros(d.Dialect, clock)).Scan(&now)
	return now, err
}

// Row is a row of a table; Token and Until are 0 where they are null.
type Row struct {
	Num   uint8
	Token uint8
	Until int64
}

// Rows returns the committed rows of a lock in table t, in the order of num.
func (d *Database) Rows(ctx context.Context, t model.Table, lock int) (all []Row, err error) {
	rows, err := d.watch.QueryContext(ctx, fmt.Sprintf("SELECT num, coalesce(token, 0), coalesce(until, 0) FROM %s WHERE lock_key = %d ORDER BY num", t, lock))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.Num, &r.Token, &r.Until); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}
