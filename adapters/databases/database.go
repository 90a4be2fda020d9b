package databases

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	model "github.com/lockproof/lockproof/model/sql"
)

// mark begins the names of databases that are ours; what follows is when they were made, and something random.
const mark = "lockproof_"

// stale is how old a database is that a run has left behind.
const stale = time.Hour

// Database is a database of its own on a server, with the tables of model/sql.
type Database struct {
	*Server
	Name  string
	pool  *sql.DB
	watch *sql.Conn // asks who waits
}

// Database makes one. It drops those that older runs have left behind.
func (s *Server) Database(ctx context.Context) (*Database, error) {
	admin, err := s.open("", nil)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	if err := s.sweep(ctx, admin); err != nil {
		return nil, err
	}
	d := &Database{Server: s, Name: fmt.Sprintf("%s%d_%s", mark, time.Now().Unix(), strings.ToLower(rand.Text()[:8]))}
	what := [...]string{model.MariaDB: "DATABASE", model.Postgres: "SCHEMA"}[s.Dialect]
	if _, err := admin.ExecContext(ctx, "CREATE "+what+" "+d.Name); err != nil {
		return nil, fmt.Errorf("making a database: %w", err)
	}
	if err := d.setUp(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
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

// sweep drops databases that runs have left behind.
func (s *Server) sweep(ctx context.Context, admin *sql.DB) error {
	rows, err := admin.QueryContext(ctx, "SELECT schema_name FROM information_schema.schemata")
	if err != nil {
		return fmt.Errorf("looking for old databases: %w", err)
	}
	var old []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return errors.Join(err, rows.Close())
		}
		made, _, _ := strings.Cut(strings.TrimPrefix(name, mark), "_")
		if at, err := strconv.ParseInt(made, 10, 64); strings.HasPrefix(name, mark) && err == nil && time.Since(time.Unix(at, 0)) > stale {
			old = append(old, name)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, name := range old {
		if err := s.drop(ctx, admin, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) drop(ctx context.Context, admin *sql.DB, name string) error {
	statement := "DROP DATABASE IF EXISTS " + name
	if s.Dialect == model.Postgres {
		statement = "DROP SCHEMA IF EXISTS " + name + " CASCADE"
	}
	if _, err := admin.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("dropping %s: %w", name, err)
	}
	return nil
}

// dropLimit bounds how long dropping a database may take.
const dropLimit = 30 * time.Second

// Close drops it. Its sessions must be closed.
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
	admin, opened := d.open("", nil)
	if opened != nil {
		return errors.Join(err, opened)
	}
	defer admin.Close()
	return errors.Join(err, d.drop(ctx, admin, d.Name))
}

// Exec carries out a statement on a connection of the database's own.
func (d *Database) Exec(ctx context.Context, statement string) error {
	if _, err := d.watch.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// Now is the server's clock, in microseconds since 1970.
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

// Rows are what is committed of a lock's rows in a table, in the order of num.
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
