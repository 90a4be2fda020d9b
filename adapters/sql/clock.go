package databases

import (
	"context"
	"fmt"

	model "github.com/lockproof/lockproof/model/sql"
)

// epoch is the start of virtual time, in Unix microseconds.
const epoch = 1_700_000_000_000_000

// shadows creates functions with the names of PostgreSQL's clock functions, in a schema that PostgreSQL searches
// first. The clock that goes on while a statement waits is a sequence, since reading a sequence returns its newest
// value in any snapshot.
var shadows = []string{
	"CREATE SEQUENCE clock",
	"CREATE FUNCTION now() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT timestamptz 'epoch' + current_setting('lockproof.transaction')::bigint * interval '1 microsecond' $$",
	"CREATE FUNCTION statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT timestamptz 'epoch' + current_setting('lockproof.statement')::bigint * interval '1 microsecond' $$",
	"CREATE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS $$ SELECT timestamptz 'epoch' + last_value * interval '1 microsecond' FROM clock $$",
}

// virtual makes the database's clocks show the time that [Database.pass] and [Session.at] set.
func (d *Database) virtual(ctx context.Context) error {
	if d.Dialect == model.MariaDB {
		return nil // MariaDB's clock is set for each session, by Session.at
	}
	for _, s := range shadows {
		if err := d.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// pass sets the clock that advances while statements wait.
func (d *Database) pass(ctx context.Context, now int64) error {
	if d.Dialect == model.MariaDB {
		return nil
	}
	return d.Exec(ctx, fmt.Sprintf("SELECT setval('clock', %d)", epoch+now))
}

// at sets the time at which the session's next statement begins. If begins is true, the statement begins a transaction, and
// the time is also the transaction's.
func (s *Session) at(ctx context.Context, now int64, begins bool) error {
	now += epoch
	if s.database.Dialect == model.MariaDB {
		return s.Set(ctx, fmt.Sprintf("timestamp = %d.%06d", now/1_000_000, now%1_000_000))
	}
	clocks := []string{"statement"}
	if begins {
		clocks = append(clocks, "transaction")
	}
	for _, c := range clocks {
		err := s.Set(ctx, fmt.Sprintf("lockproof.%s = '%d'", c, now))
		if code, known := codeOf(err); known && code == model.InFailed {
			return nil // the transaction has failed: the server accepts only its end, which reads no clock
		}
		if err != nil {
			return err
		}
	}
	return nil
}
