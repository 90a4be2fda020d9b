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

// Exec carries out a statement that is not a command of the model.
func (s *Session) Exec(ctx context.Context, statement string) error {
	_, err := s.conn.ExecContext(ctx, statement)
	return err
}

// Value returns the result of a query as text; "null" for null.
func (s *Session) Value(ctx context.Context, query string) (string, error) {
	var v sql.NullString
	err := s.conn.QueryRowContext(ctx, query).Scan(&v)
	if !v.Valid {
		v.String = "null"
	}
	return v.String, err
}

// Start begins to carry out a statement. Reply and Answer return its reply, as for a command of the model; the
// reply's Count is the number of changed rows.
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

// TakeNumberOf makes s use the connection number of session o, as if the server had reused it for o.
func (s *Session) TakeNumberOf(o *Session) { s.id = o.id }

// Pooled returns a pool with the given maximum number of connections. Each transaction may use any of them, as behind
// a connection pooler.
func (d *Database) Pooled(connections int) (*sql.DB, error) {
	pool, err := d.open(d.Name, nil)
	if err == nil {
		pool.SetMaxOpenConns(connections)
	}
	return pool, err
}

// Hang closes the session's socket, so that the driver reacts as to a broken connection.
func (s *Session) Hang() { _ = s.line.conn.Close() }

// Number returns the server's error code of err; "" if the error is not the server's.
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

// Database returns the database with the rows of the locks.
func (m *Measured) Database() *Database { return m.database }

// Locks returns how many locks have been made. They are numbered from 1.
func (m *Measured) Locks() int { return int(m.locks.Load()) }

// Waiting returns the numbers of the connections that wait for a lock, all at the same moment. Among reports whether
// s is one of these connections.
func (d *Database) Waiting(ctx context.Context) ([]int64, error) { return d.waiting(ctx) }
func (s *Session) Among(connections []int64) bool                { return slices.Contains(connections, s.id) }

// Identifier quotes a name in the server's dialect, for use in a statement.
func (s *Server) Identifier(name string) string { return s.identifier(name) }

// QueryRow carries out a query on the connection that no session uses.
func (d *Database) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return d.watch.QueryRowContext(ctx, query, args...)
}

// EndRun ends the session whose lock shows that the run is alive, as if the run were killed.
func (d *Database) EndRun() {
	_ = d.alive.Raw(func(any) error { return driver.ErrBadConn })
}

// Exists reports whether the server has a database of that name that looks like one of lockproof's.
func (d *Database) Exists(ctx context.Context, name string) (bool, error) {
	names, err := d.left(ctx, d.alive)
	return slices.Contains(names, name), err
}
