package databases

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	model "github.com/lockproof/lockproof/model/sql"
)

// Exec carries out a statement that is no command of the model's.
func (s *Session) Exec(ctx context.Context, statement string) error {
	_, err := s.conn.ExecContext(ctx, statement)
	return err
}

// Value is the result of a query, "null" for null.
func (s *Session) Value(ctx context.Context, query string) (string, error) {
	var v sql.NullString
	err := s.conn.QueryRowContext(ctx, query).Scan(&v)
	if !v.Valid {
		v.String = "null"
	}
	return v.String, err
}

// Start has a statement on its way. Its reply, which is asked for as a command's is, says how many rows it changed.
func (s *Session) Start(statement string) {
	s.pending = true
	go func() {
		var r model.Reply
		done, err := s.conn.ExecContext(s.ctx, statement)
		if err == nil {
			n, _ := done.RowsAffected()
			r.Count = uint8(n)
		} else if code, known := codeOf(err); known {
			r, err = model.Reply{Code: code}, nil
		}
		s.replies <- result{r, err}
	}()
}

// TakeNumberOf has a session be known by the number of another.
func (s *Session) TakeNumberOf(o *Session) { s.id = o.id }

// Pooled is a pool of connections that transactions share, as behind a pooler.
func (d *Database) Pooled(connections int) (*sql.DB, error) {
	pool, err := d.open(d.Name, nil)
	if err == nil {
		pool.SetMaxOpenConns(connections)
	}
	return pool, err
}

// Hang ends the socket, and lets the driver do what it does of itself then.
func (s *Session) Hang() { _ = s.line.conn.Close() }

// Number is a server's own for an error, "" of another.
func Number(err error) string {
	var m *mysql.MySQLError
	var p *pgconn.PgError
	switch {
	case errors.As(err, &m):
		return strconv.Itoa(int(m.Number))
	case errors.As(err, &p):
		return p.Code
	}
	return ""
}

// Database is where the locks are.
func (m *Measured) Database() *Database { return m.database }

// Locks is how many there were, from 1.
func (m *Measured) Locks() int { return int(m.locks.Load()) }

// Waiting are the connections that wait for a lock, all at one moment; Among reports whether a session is one of them.
func (d *Database) Waiting(ctx context.Context) ([]int64, error) { return d.waiting(ctx) }
func (s *Session) Among(connections []int64) bool                { return slices.Contains(connections, s.id) }

// Identifier quotes a name for a statement.
func (s *Server) Identifier(name string) string { return s.identifier(name) }

// QueryRow asks on a connection of the database's own.
func (d *Database) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return d.watch.QueryRowContext(ctx, query, args...)
}

// EndRun ends the session that says that the database's run lives, as a kill does.
func (d *Database) EndRun() {
	_ = d.alive.Raw(func(any) error { return driver.ErrBadConn })
}

// Exists reports whether a database is there.
func (d *Database) Exists(ctx context.Context, name string) (bool, error) {
	names, err := d.left(ctx, d.alive)
	return slices.Contains(names, name), err
}
