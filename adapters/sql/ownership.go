package databases

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	model "github.com/lockproof/lockproof/model/sql"
)

// Rules of ownership. The name of a database that a run makes has a fixed form, with a mark. The server's comment on
// the database has the same mark. While the run is alive, one of its sessions holds a lock of that name on the
// server. A run drops a database of another run only if name and comment agree, the lock is free and, on PostgreSQL,
// the schema belongs to the run's own role.

// ourName matches the names of lockproof's databases. They contain the Unix time at which the database was made, in
// seconds, and a random mark.
var ourName = regexp.MustCompile(`^lockproof_[0-9]{10}_[a-z2-7]{8}$`)

func newName(now time.Time) string {
	return fmt.Sprintf("lockproof_%010d_%s", now.Unix(), strings.ToLower(rand.Text()[:8]))
}

// comment returns the server's comment on the database of the given name.
func comment(name string) string {
	return "made by lockproof, which drops it when its run has ended: " + name
}

// identifier quotes a name in the server's dialect, for use in a statement.
func (s *Server) identifier(name string) string {
	if s.Dialect == model.Postgres {
		return pgx.Identifier{name}.Sanitize()
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// create makes a database with its comment. The name and the comment need no quoting, since they have a fixed form.
func (s *Server) create(ctx context.Context, c *sql.Conn, name string) error {
	if s.Dialect == model.MariaDB {
		_, err := c.ExecContext(ctx, fmt.Sprintf("CREATE DATABASE %s COMMENT '%s'", s.identifier(name), comment(name)))
		return err
	}
	_, err := c.ExecContext(ctx, fmt.Sprintf("BEGIN; CREATE SCHEMA %s; COMMENT ON SCHEMA %[1]s IS '%s'; COMMIT", s.identifier(name), comment(name)))
	return err
}

// Statements about the lock that shows that a run is alive. All databases of a MariaDB server share such locks. On
// PostgreSQL they belong to the database that the address names.
var (
	claiming = [...]string{
		model.MariaDB:  "SELECT GET_LOCK(?, 0) = 1",
		model.Postgres: "SELECT pg_try_advisory_lock(hashtextextended($1, 0))",
	}
	releasing = [...]string{
		model.MariaDB:  "SELECT RELEASE_LOCK(?) = 1",
		model.Postgres: "SELECT pg_advisory_unlock(hashtextextended($1, 0))",
	}
)

// lasting makes the server keep an idle session, since the session's lock shows that its run is alive. PostgreSQL
// before version 14 never ends an idle session.
var lasting = [...]string{
	model.MariaDB:  "SET SESSION wait_timeout = 31536000",
	model.Postgres: "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'",
}

var errAlive = errors.New("another run holds the lock of that name")

// claim makes session c take the lock that shows that the run of the given name is alive. It returns errAlive if
// another session holds the lock.
func (s *Server) claim(ctx context.Context, c *sql.Conn, name string) error {
	var got sql.NullBool
	if err := c.QueryRowContext(ctx, claiming[s.Dialect], name).Scan(&got); err != nil {
		return err
	}
	if !got.Bool {
		return errAlive
	}
	return nil
}

// sweep drops the databases of runs that have ended.
func (s *Server) sweep(ctx context.Context, c *sql.Conn) error {
	if s.Dialect == model.MariaDB {
		if alone, err := alone(ctx, c); err != nil || !alone {
			return err
		}
	}
	names, err := s.left(ctx, c)
	if err != nil {
		return fmt.Errorf("looking for databases that runs have left behind: %w", err)
	}
	for _, name := range names {
		if err := s.sweepOne(ctx, c, name); err != nil {
			return fmt.Errorf("dropping %s, which a run has left behind: %w", name, err)
		}
	}
	return nil
}

// alone reports whether a MariaDB server is not in a Galera cluster. In a cluster each server has its own locks, so a
// free lock does not prove that a run is dead.
func alone(ctx context.Context, c *sql.Conn) (bool, error) {
	var clustered int
	err := c.QueryRowContext(ctx, "SELECT count(*) FROM information_schema.global_variables WHERE variable_name = 'WSREP_ON' AND variable_value = 'ON'").Scan(&clustered)
	if err != nil {
		return false, fmt.Errorf("asking whether the server is one of a cluster: %w", err)
	}
	return clustered == 0, nil
}

// left returns the names of the databases that look like lockproof's.
func (s *Server) left(ctx context.Context, c *sql.Conn) (names []string, err error) {
	rows, err := c.QueryContext(ctx, "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'lockproof%'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if ourName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}

// sweepOne drops a database after it has checked that the database is lockproof's and that its run has ended.
func (s *Server) sweepOne(ctx context.Context, c *sql.Conn, name string) error {
	err := s.claim(ctx, c, name)
	if errors.Is(err, errAlive) {
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := s.ours(ctx, c, name)
	if err == nil && ours {
		err = s.drop(ctx, c, name)
	}
	_, released := c.ExecContext(ctx, releasing[s.Dialect], name)
	return errors.Join(err, released)
}

// Queries that check the comment on a database. They compare bytes, since MariaDB compares texts by a collation, in
// which different letters may be equal.
var ourMark = [...]string{
	model.MariaDB: "SELECT count(*) FROM information_schema.schemata WHERE BINARY schema_name = ? AND BINARY schema_comment = ?",
	model.Postgres: "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1 AND pg_catalog.obj_description(oid, 'pg_namespace') = $2" +
		" AND pg_catalog.pg_get_userbyid(nspowner) = current_user",
}

// ours reports whether a database has the comment with lockproof's mark.
func (s *Server) ours(ctx context.Context, c *sql.Conn, name string) (bool, error) {
	var n int
	err := c.QueryRowContext(ctx, ourMark[s.Dialect], name, comment(name)).Scan(&n)
	return n == 1, err
}

// drop drops a database. On PostgreSQL, it keeps a database if something elsewhere, such as a view, depends on its tables.
func (s *Server) drop(ctx context.Context, c *sql.Conn, name string) (err error) {
	if s.Dialect == model.MariaDB {
		_, err = c.ExecContext(ctx, "DROP DATABASE IF EXISTS "+s.identifier(name))
	} else if err = s.dropTables(ctx, c, name); err == nil {
		_, err = c.ExecContext(ctx, "DROP SCHEMA IF EXISTS "+s.identifier(name))
	}
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == dependentObjects {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dropping %s: %w", name, err)
	}
	return nil
}

// dependentObjects is PostgreSQL's error code if something cannot be dropped because something else depends on it.
const dependentObjects = "2BP01"

// dropTables drops the tables of a schema. A table on which something else depends is an error.
func (s *Server) dropTables(ctx context.Context, c *sql.Conn, schema string) error {
	rows, err := c.QueryContext(ctx, "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = $1", schema)
	if err != nil {
		return err
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		tables = append(tables, s.identifier(schema)+"."+s.identifier(table))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(tables) == 0 {
		return err
	}
	_, err = c.ExecContext(ctx, "DROP TABLE "+strings.Join(tables, ", "))
	return err
}
