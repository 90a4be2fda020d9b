package databases

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	model "github.com/lockproof/lockproof/model/sql"
)

// Session is a connection that sends one command at a time.
type Session struct {
	database *Database
	line     line
	pool     *sql.DB // has exactly one connection
	conn     *sql.Conn
	ctx      context.Context // context of the session's commands
	cancel   context.CancelFunc
	id       int64 // the server's number for the connection
	// Offset is added to the lock of a command: lock n is the row with lock_key n+Offset.
	Offset  int
	tokens  int // number added to the tokens of commands
	replies chan result
	pending bool
	early   *result // a reply that Arrived has returned and that Reply and Answer will return again
}

// result is the reply to a command, or the error if there is no reply.
type result struct {
	reply model.Reply
	err   error
}

// Session opens a connection whose transactions have the given isolation level. Lock n of a command is the row with lock_key
// n+offset.
func (d *Database) Session(ctx context.Context, level model.Level, offset int) (*Session, error) {
	s := d.session(ctx, offset)
	opening, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.open(opening, level); err != nil {
		s.Close()
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	return s, nil
}

func (d *Database) session(ctx context.Context, offset int) *Session {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &Session{database: d, ctx: own, cancel: cancel, Offset: offset, replies: make(chan result, 1)}
}

func (s *Session) open(ctx context.Context, level model.Level) (err error) {
	if s.pool, err = s.database.open(s.database.Name, &s.line); err != nil {
		return err
	}
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return err
	}
	ask := "SELECT connection_id()"
	if s.database.Dialect == model.Postgres {
		ask = "SELECT pg_backend_pid()"
	}
	if s.database.Dialect == model.Postgres && !s.line.timed {
		// Scan in the order of the primary key, and report deadlocks without delay.
		if _, err := s.conn.ExecContext(ctx, "SET enable_seqscan = off; SET enable_bitmapscan = off; SET deadlock_timeout = '1ms'"); err != nil {
			return err
		}
	}
	if err := s.conn.QueryRowContext(ctx, ask).Scan(&s.id); err != nil {
		return err
	}
	_, err = s.do(ctx, &model.Command{Verb: model.Open, Level: level})
	return err
}

// Cut resets the session's socket, so that its client vanishes without a message. The server may have the session for
// some more time; see [Session.There].
func (s *Session) Cut() { s.line.reset() }

// There reports whether the server still has the session. If the session has ended and another program's session has
// got its number, it returns false.
func (s *Session) There(ctx context.Context) (bool, error) {
	ask := "SELECT count(*) FROM information_schema.processlist WHERE id = %d AND db = '%s'"
	if s.database.Dialect == model.Postgres {
		ask = "SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND application_name = '%s'"
	}
	var n int
	err := s.database.watch.QueryRowContext(ctx, fmt.Sprintf(ask, s.id, s.database.Name)).Scan(&n)
	return n > 0, err
}

// Set changes a setting of the connection: it sends SET and setting.
func (s *Session) Set(ctx context.Context, setting string) error {
	if _, err := s.conn.ExecContext(ctx, "SET "+setting); err != nil {
		return fmt.Errorf("SET %s: %w", setting, err)
	}
	return nil
}

// kill makes the server end the session, if the session still exists.
func (s *Session) kill() {
	ctx := context.Background()
	if there, err := s.There(ctx); err != nil || !there {
		return
	}
	kill := fmt.Sprintf("KILL %d", s.id)
	if s.database.Dialect == model.Postgres {
		kill = fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %d AND application_name = '%s'", s.id, s.database.Name)
	}
	_, _ = s.database.watch.ExecContext(ctx, kill) // an error means that the session has ended
}

// Close ends the connection, also during a command.
func (s *Session) Close() {
	s.cancel()
	if _, there := s.Arrived(); s.pending && !there {
		s.kill()
		<-s.replies
	}
	if s.conn != nil {
		_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool must not use the connection again
		_ = s.conn.Close()
	}
	if s.pool != nil {
		_ = s.pool.Close()
	}
}

// Send begins to carry out a command, and does not wait. Reply returns the command's reply.
func (s *Session) Send(c *model.Command) {
	s.pending = true
	command := *c
	go func() {
		r, err := s.do(s.ctx, &command)
		s.replies <- result{r, err}
	}()
}

// Pending reports whether a command has not been answered.
func (s *Session) Pending() bool { return s.pending }

// errSilent is the error if a command has no reply and does not wait for a lock.
var errSilent = errors.New("neither an answer, nor a lock that it waits for")

// pace is the time between two queries that ask which commands wait.
const pace = time.Millisecond

// patience is the maximum time for a command that does not wait for a lock.
const patience = 20 * time.Second

// Reply waits for the reply to the last command, at most for limit. If the command waits for a lock, Reply returns
// Blocked.
func (s *Session) Reply(ctx context.Context, limit time.Duration) (model.Reply, error) {
	return s.await(ctx, limit, true)
}

// Answer waits for the reply to the last command, at most for limit. It does not return Blocked while the command
// waits.
func (s *Session) Answer(ctx context.Context, limit time.Duration) (model.Reply, error) {
	return s.await(ctx, limit, false)
}

// Arrived returns the reply to the last command, if it has arrived. Reply or Answer return it again.
func (s *Session) Arrived() (model.Reply, bool) {
	if s.early == nil {
		select {
		case r := <-s.replies:
			s.early = &r
		default:
			return model.Reply{}, false
		}
	}
	return s.early.reply, true
}

func (s *Session) await(ctx context.Context, limit time.Duration, look bool) (model.Reply, error) {
	if r := s.early; r != nil {
		s.early, s.pending = nil, false
		return r.reply, r.err
	}
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case r := <-s.replies:
			s.pending = false
			return r.reply, r.err
		case <-ctx.Done():
			return model.Reply{}, ctx.Err()
		case <-deadline.C:
			return model.Reply{}, errSilent
		case <-tick.C:
		}
		if !look {
			continue
		}
		if waits, err := s.Waits(ctx); err != nil || waits {
			return model.Reply{Code: model.Blocked}, err
		}
	}
}

// lockWaits finds in InnoDB's status the connections whose transactions wait. The table of information_schema with
// the same content is refreshed only ten times a second.
var lockWaits = regexp.MustCompile(`---TRANSACTION [^\n]*\n(?:mysql tables[^\n]*\n)?LOCK WAIT[^\n]*\nMariaDB thread id (\d+)`)

// Waits reports whether the session waits for a lock at the server.
func (s *Session) Waits(ctx context.Context) (bool, error) {
	all, err := s.database.waiting(ctx)
	return slices.Contains(all, s.id), err
}

// waiting returns the connections that wait for a lock, all at the same moment.
func (d *Database) waiting(ctx context.Context) (all []int64, err error) {
	if d.Dialect == model.Postgres {
		rows, err := d.watch.QueryContext(ctx, "SELECT pid FROM pg_locks WHERE NOT granted")
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return nil, err
			}
			all = append(all, id)
		}
		return all, rows.Err()
	}
	var kind, name, status string
	if err := d.watch.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status); err != nil {
		return nil, err
	}
	for _, m := range lockWaits.FindAllStringSubmatch(status, -1) {
		if id, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			all = append(all, id)
		}
	}
	return all, nil
}

// do sends a command to the server, and reads its reply.
func (s *Session) do(ctx context.Context, c *model.Command) (r model.Reply, err error) {
	text := c.TextAmong(s.database.Dialect, int(c.Lock)+s.Offset, s.tokens)
	switch c.Verb {
	case model.Select:
		err = s.nums(ctx, text, c.Table.Shift(s.database.Dialect), &r)
	case model.Count:
		err = s.conn.QueryRowContext(ctx, text).Scan(&r.Count)
	default:
		err = s.exec(ctx, c, text, &r)
	}
	if err == nil {
		return r, nil
	}
	if code, known := codeOf(err); known {
		return model.Reply{Code: code}, nil
	}
	return r, fmt.Errorf("%s: %w", text, err)
}

// nums reads the numbers of rows into r. A number in the database is the model's number plus shift.
func (s *Session) nums(ctx context.Context, text string, shift int, r *model.Reply) error {
	rows, err := s.conn.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return err
		}
		r.Count++ // two rows have this number: an old snapshot shows a deleted row beside the session's own
		r.Nums |= 1 << ((n - shift) & 31)
	}
	return rows.Err()
}

func (s *Session) exec(ctx context.Context, c *model.Command, text string, r *model.Reply) error {
	done, err := s.conn.ExecContext(ctx, text)
	if err != nil || !c.Writes() {
		return err
	}
	n, err := done.RowsAffected()
	r.Count = uint8(n)
	return err
}

// codeOf returns the model's code for an error of the server, if there is one.
func codeOf(err error) (model.Code, bool) {
	var m *mysql.MySQLError
	var p *pgconn.PgError
	isM, isP := errors.As(err, &m), errors.As(err, &p)
	for code := range model.Codes {
		number, state := code.Numbers()
		if isM && number != 0 && m.Number == number || isP && state != "" && p.Code == state {
			return code, true
		}
	}
	return 0, false
}
