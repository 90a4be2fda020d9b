package databases

import (
	"context"
	"fmt"

	model "github.com/lockproof/lockproof/model/sql"
)

// epoch is where virtual time begins, in microseconds since 1970.
const epoch = 1_700_000_000_000_000

// shadows are functions in the database with the names of PostgreSQL's clocks, which PostgreSQL finds first. The
// clock that runs while a statement waits is a sequence: a read returns its newest value in any snapshot.
var shadows = []string{
	"CREATE SEQUENCE clock",
	"CREATE FUNCTION now() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT timestamptz 'epoch' + current_setting('lockproof.transaction')::bigint * interval '1 microsecond' $$",
	"CREATE FUNCTION statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT timestamptz 'epoch' + current_setting('lockproof.statement')::bigint * interval '1 microsecond' $$",
	"CREATE FUNCTION clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS $$ SELECT timestamptz 'epoch' + last_value * interval '1 microsecond' FROM clock $$",
}

// virtual has the database's clocks go by what [Database.pass] and [Session.at] say.
func (d *Database) virtual(ctx context.Context) error {
	if d.Dialect == model.MariaDB {
		return nil // see Session.at
	}
	for _, s := range shadows {
		if err := d.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// pass sets the clock that runs while statements wait.
func (d *Database) pass(ctx context.Context, now int64) error {
	if d.Dialect == model.MariaDB {
		return nil
	}
	return d.Exec(ctx, fmt.Sprintf("SELECT setval('clock', %d)", epoch+now))
}

// at sets the time at which a session's next statement begins, and, if that is what it does, its transaction.
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
			return nil // nothing but the transaction's end is taken, which asks for no time
		}
		if err != nil {
			return err
		}
	}
	return nil
}
