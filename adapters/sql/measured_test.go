package databases_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

// measured is a fact about a server that commands of the model cannot show. It concerns, for example, the server's
// clocks, its built-in locks, or how it treats vanished clients. Before each fact, slots 1 and 2 are free.
type measured struct {
	name string
	on   sql.Dialect
	run  func(*bench)
}

// bench has the helpers for checking a measured fact.
type bench struct {
	*testing.T
	db   *databases.Database
	name string // prefix of the names of built-in locks, which all databases of a server share
}

// session opens a session, which is closed at the end of the test.
func (b *bench) session() *databases.Session {
	b.Helper()
	return session(b.T, b.db, sql.ReadCommitted)
}

// do carries out statements on a session, and fails the test if one fails.
func (b *bench) do(s *databases.Session, statements ...string) {
	b.Helper()
	for _, text := range statements {
		if err := s.Exec(b.Context(), text); err != nil {
			b.Fatalf("%s: %v", text, err)
		}
	}
}

// is fails the test if the query's result is not want.
func (b *bench) is(s *databases.Session, want, query string) {
	b.Helper()
	if got := b.value(s, query); got != want {
		b.Fatalf("%s: expected %s, got %s", query, want, got)
	}
}

func (b *bench) value(s *databases.Session, query string) string {
	b.Helper()
	v, err := s.Value(b.Context(), query)
	if err != nil {
		b.Fatalf("%s: %v", query, err)
	}
	return v
}

// fails carries out a statement, and fails the test unless the server returns the error code number.
func (b *bench) fails(s *databases.Session, number, statement string) {
	b.Helper()
	if err := s.Exec(b.Context(), statement); databases.Number(err) != number {
		b.Fatalf("%s: expected %s, got %v", statement, number, err)
	}
}

// waits sends a statement, and fails the test unless the statement waits for a lock.
func (b *bench) waits(s *databases.Session, statement string) {
	b.Helper()
	s.Start(statement)
	if r := answer(b.T, s, true); r.Code != sql.Blocked {
		b.Fatalf("%s: expected that it waits, got %v", statement, r)
	}
}

// comes waits for the reply to a statement that waits.
func (b *bench) comes(s *databases.Session, want sql.Reply) {
	b.Helper()
	if got := answer(b.T, s, false); got != want {
		b.Fatalf("expected %v, got %v", want, got)
	}
}

// gone waits until the server no longer has the session.
func (b *bench) gone(s *databases.Session) {
	b.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		there, err := s.There(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if !there {
			return
		}
		if time.Now().After(end) {
			b.Fatal("the server has the session still")
		}
	}
}

const (
	lockRow     = "SELECT num FROM slots WHERE lock_key = 1 AND num = 1 FOR UPDATE"
	takeRow     = "UPDATE slots SET token = 7 WHERE lock_key = 1 AND num = 1"
	tokenOf     = "SELECT coalesce(token, 0) FROM slots WHERE lock_key = 1 AND num = 1"
	countLeases = "SELECT count(*) FROM leases WHERE lock_key = 1"
	untilOf     = "SELECT until FROM slots WHERE lock_key = 1 AND num = 1"
)

// stamp returns a statement that sets the end of a row's lease to a clock of the server.
func stamp(d sql.Dialect, clock string) string {
	return "UPDATE slots SET until = " + sql.Micros(d, clock) + " WHERE lock_key = 1 AND num = 1"
}

// later returns the number of rows, 0 or 1, whose lease ends at the given moment or later.
func (b *bench) later(s *databases.Session, moment string) string {
	b.Helper()
	return b.value(s, "SELECT count(*) FROM slots WHERE lock_key = 1 AND num = 1 AND until >= "+moment)
}

// TestMeasured checks the facts about real servers, with their labels in sim/FACTS.md.
func TestMeasured(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			db := database(t, d)
			for i, f := range append(onMariaDB, onPostgres...) {
				if f.on != d {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					b := &bench{t, db, fmt.Sprintf("%s_%d", db.Name, i)}
					for _, s := range []string{"DELETE FROM slots", "INSERT INTO slots VALUES (1, 1, NULL, NULL), (1, 2, NULL, NULL), (3, 0, NULL, NULL)"} {
						if err := db.Exec(t.Context(), s); err != nil {
							t.Fatal(err)
						}
					}
					f.run(b)
				})
			}
		})
	}
}

var onMariaDB = []measured{
	{"M1: a wait that ends by time undoes the statement and nothing else; its limit is 50 s", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		b.is(one, "50", "SELECT @@global.innodb_lock_wait_timeout")
		b.do(one, "BEGIN", lockRow)
		b.do(two, "SET innodb_lock_wait_timeout = 1", "BEGIN", "UPDATE slots SET token = 7 WHERE lock_key = 1 AND num = 2")
		b.fails(two, "1205", takeRow)
		b.fails(one, "1205", "SELECT num FROM slots WHERE lock_key = 1 AND num = 2 FOR UPDATE NOWAIT")
		b.do(two, "COMMIT")
		b.is(one, "7", "SELECT token FROM slots WHERE lock_key = 1 AND num = 2")
	}},
	{"M3: NOWAIT says 1205", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		b.do(one, "BEGIN", lockRow)
		b.fails(two, "1205", lockRow+" NOWAIT")
	}},
	{"M7: a socket that is reset, or a KILL, frees the row of a transaction that is idle", sql.MariaDB, func(b *bench) {
		one, two, three := b.session(), b.session(), b.session()
		b.do(one, "BEGIN", lockRow)
		b.waits(two, takeRow)
		one.Cut()
		b.comes(two, ok(1))
		b.do(two, "BEGIN", lockRow)
		b.waits(three, takeRow)
		id := b.value(two, "SELECT connection_id()")
		if err := b.db.Exec(b.Context(), "KILL "+id); err != nil {
			b.Fatal(err)
		}
		b.comes(three, ok(1))
	}},
	{"M8: a procedure goes on for a client that died while it waited, and commits, if it has nothing to send", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		b.do(one, "CREATE PROCEDURE grab() BEGIN START TRANSACTION; "+strings.Replace(lockRow, "num FROM", "num INTO @num FROM", 1)+"; "+takeRow+"; COMMIT; END")
		b.do(one, "BEGIN", lockRow)
		b.waits(two, "CALL grab()")
		two.Cut()
		b.is(one, "0", tokenOf)
		b.do(one, "ROLLBACK")
		b.gone(two)
		b.is(one, "7", tokenOf)

		three := b.session()
		b.do(one, "CREATE PROCEDURE shown() BEGIN START TRANSACTION; "+lockRow+"; UPDATE slots SET token = 8 WHERE lock_key = 1 AND num = 1; COMMIT; END")
		b.do(one, "BEGIN", lockRow)
		b.waits(three, "CALL shown()")
		three.Cut()
		b.do(one, "ROLLBACK")
		b.gone(three)
		b.is(one, "7", tokenOf) // the update was rolled back, because the selected rows could not be sent
	}},
	{"M9: a silent client keeps its row and GET_LOCK until wait_timeout, which is 28,800 s", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		b.is(one, "28800", "SELECT @@global.wait_timeout")
		b.do(one, "SET wait_timeout = 1", "BEGIN", lockRow)
		b.is(one, "1", "SELECT GET_LOCK('"+b.name+"', 0)")
		b.is(two, "0", "SELECT GET_LOCK('"+b.name+"', 0)")
		b.waits(two, takeRow)
		b.comes(two, ok(1))
		b.gone(one)
		b.is(two, "1", "SELECT GET_LOCK('"+b.name+"', 10)")
	}},
	{"M10: NOW() of an update that waited is the time before, SYSDATE() the time after", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		for clock, after := range map[string]string{"NOW(6)": "0", "SYSDATE(6)": "1"} {
			b.do(one, "BEGIN", lockRow)
			b.waits(two, stamp(sql.MariaDB, clock))
			now := b.value(one, "SELECT "+sql.Micros(sql.MariaDB, "SYSDATE(6)"))
			b.do(one, "ROLLBACK")
			b.comes(two, ok(1))
			if got := b.later(one, now); got != after {
				b.Errorf("%s: expected %s rows from after the wait, got %s", clock, after, got)
			}
		}
	}},
	{"M11: NOW() is one value in a statement, and moves between those of a procedure, in a transaction as well", sql.MariaDB, func(b *bench) {
		s := b.session()
		b.do(s, "CREATE FUNCTION moves() RETURNS INT BEGIN DECLARE a, z DATETIME(6); SET a = NOW(6); DO SLEEP(0.01); SET z = NOW(6); RETURN z > a; END")
		b.is(s, "0", "SELECT moves()") // NOW() has one value within a function, as in the statement that calls it
		b.do(s, "CREATE PROCEDURE moved() BEGIN DECLARE a DATETIME(6); START TRANSACTION; SET a = NOW(6); DO SLEEP(0.01); SET @moved = NOW(6) > a; COMMIT; END", "CALL moved()")
		b.is(s, "1", "SELECT @moved")
		b.is(s, "1", "SELECT a = z FROM (SELECT NOW(6) AS a, SLEEP(0.01), NOW(6) AS z) AS x")
	}},
	{"M12: SET timestamp fixes NOW() and CURRENT_TIMESTAMP, and not SYSDATE()", sql.MariaDB, func(b *bench) {
		s := b.session()
		b.do(s, "SET timestamp = 1700000000.25")
		b.is(s, "1", "SELECT UNIX_TIMESTAMP(NOW(6)) = 1700000000.25 AND UNIX_TIMESTAMP(CURRENT_TIMESTAMP(6)) = 1700000000.25")
		b.is(s, "1", "SELECT UNIX_TIMESTAMP(SYSDATE(6)) > 1700000001")
	}},
	{"M13: in a TIMESTAMP without fraction a lease of 1 s lasts 1 to 2 s with <, 0 to 1 s with <=", sql.MariaDB, func(b *bench) {
		s := b.session()
		b.do(s, "CREATE TABLE whole (until TIMESTAMP NOT NULL)")
		for _, c := range []struct{ granted, asked, less, most string }{
			{"10.0", "11.99", "0", "1"}, {"10.0", "12.0", "1", "1"}, {"10.9", "10.99", "0", "0"}, {"10.9", "11.0", "0", "1"}, {"10.9", "11.99", "0", "1"}, {"10.9", "12.0", "1", "1"},
		} {
			b.do(s, "DELETE FROM whole", "SET timestamp = 17000000"+c.granted, "INSERT INTO whole VALUES (CURRENT_TIMESTAMP + INTERVAL 1 SECOND)", "SET timestamp = 17000000"+c.asked)
			b.is(s, c.less, "SELECT until < CURRENT_TIMESTAMP FROM whole")
			b.is(s, c.most, "SELECT until <= CURRENT_TIMESTAMP FROM whole")
		}
	}},
	{"M14: the end of a lease in a DATETIME is over for a session of another time zone, in a TIMESTAMP it is not", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		b.do(one, "CREATE TABLE zones (a DATETIME NOT NULL, b TIMESTAMP NOT NULL)", "SET time_zone = '+00:00'", "INSERT INTO zones VALUES (NOW() + INTERVAL 60 SECOND, NOW() + INTERVAL 60 SECOND)")
		b.do(two, "SET time_zone = '+02:00'")
		b.is(one, "0", "SELECT a < NOW() FROM zones")
		b.is(two, "1", "SELECT a < NOW() FROM zones")
		b.is(two, "0", "SELECT b < NOW() FROM zones")
	}},
	{"M15: GET_LOCK counts, outlives transactions, knows its owner, and goes with the connection", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		get := func(name, wait string) string { return fmt.Sprintf("SELECT GET_LOCK('%s', %s)", name, wait) }
		release := func(name string) string { return fmt.Sprintf("SELECT RELEASE_LOCK('%s')", name) }
		b.is(one, "1", get(b.name, "0"))
		b.is(one, "1", get(b.name, "0"))
		b.do(one, "BEGIN", "COMMIT", "BEGIN", "ROLLBACK")
		b.is(one, "1", release(b.name))
		b.is(two, "0", get(b.name, "0.1")) // session one acquired the lock twice, and released it only once
		b.is(two, "0", release(b.name))
		b.is(two, "null", release(b.name+"x"))
		b.is(two, "1", get(b.name+"x", "0"))
		b.fails(one, "1059", get(strings.Repeat("x", 193), "0"))
		b.is(two, "1", get(b.name+strings.Repeat("y", 192-len(b.name)), "0"))
		one.Cut()
		b.gone(one)
		b.is(two, "1", get(b.name, "10"))
	}},
	{"M15: crossing waits for GET_LOCKs are a deadlock", sql.MariaDB, func(b *bench) {
		one, two := b.session(), b.session()
		b.is(one, "1", "SELECT GET_LOCK('"+b.name+"a', 0)")
		b.is(two, "1", "SELECT GET_LOCK('"+b.name+"b', 0)")
		one.Start("DO GET_LOCK('" + b.name + "b', 60)")
		id := "" // session one waits for GET_LOCK; b.waits would see only a wait for a row
		for id == "" {
			id = b.value(two, "SELECT coalesce(max(id), '') FROM information_schema.processlist WHERE state = 'User lock' AND info LIKE '%"+b.name+"b%' AND info LIKE 'DO%'")
		}
		b.fails(two, "1213", "SELECT GET_LOCK('"+b.name+"a', 60)")
		b.is(two, "1", "SELECT RELEASE_LOCK('"+b.name+"b')")
		b.comes(one, ok(0))
	}},
	{"M18: innodb_snapshot_isolation is off, and makes 1020 of M6's stale read", sql.MariaDB, func(b *bench) {
		one, two := b.session(), session(b.T, b.db, sql.RepeatableRead)
		b.is(two, "0", "SELECT @@global.innodb_snapshot_isolation")
		b.do(two, "SET innodb_snapshot_isolation = ON", "BEGIN", "SELECT COUNT(*) FROM slots")
		b.do(one, takeRow)
		b.fails(two, "1020", lockRow)
	}},
}

var onPostgres = []measured{
	{"G1: lock, count, insert at SERIALIZABLE: the second is told 40001", sql.Postgres, func(b *bench) {
		one, two := session(b.T, b.db, sql.Serializable), session(b.T, b.db, sql.Serializable)
		insert := "INSERT INTO leases VALUES (1, %d, %[1]d, NULL)"
		b.do(one, "BEGIN", lockRow, countLeases)
		b.do(two, "BEGIN")
		b.waits(two, lockRow)
		b.do(one, fmt.Sprintf(insert, 1), "COMMIT")
		b.comes(two, ok(1))
		b.do(two, countLeases)
		b.fails(two, "40001", fmt.Sprintf(insert, 2))
		b.do(two, "ROLLBACK")
	}},
	{"G3: now() is the transaction's, statement_timestamp() the statement's", sql.Postgres, func(b *bench) {
		s := b.session()
		b.do(s, "BEGIN")
		now, statement := b.value(s, "SELECT now()"), b.value(s, "SELECT statement_timestamp()")
		b.is(s, now, "SELECT now()")
		if again := b.value(s, "SELECT statement_timestamp()"); again == statement {
			b.Errorf("statement_timestamp() is %s in two statements", again)
		}
	}},
	{"G4: clock_timestamp() of an update that waited is the time before, unless the row was changed", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		for change, after := range map[string]string{lockRow: "0", takeRow: "1"} {
			b.do(one, "BEGIN", change)
			b.waits(two, stamp(sql.Postgres, "clock_timestamp()"))
			now := b.value(one, "SELECT "+sql.Micros(sql.Postgres, "clock_timestamp()"))
			b.do(one, "COMMIT")
			b.comes(two, ok(1))
			if got := b.later(one, now); got != after {
				b.Errorf("behind %s: expected %s rows from after the wait, got %s", change, after, got)
			}
		}
	}},
	{"G5: a condition on now() that waited takes a lease for live that is over", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		b.do(one, stamp(sql.Postgres, "now()"), "BEGIN", takeRow)
		b.waits(two, "UPDATE slots SET token = 8 WHERE lock_key = 1 AND num = 1 AND until < "+sql.Micros(sql.Postgres, "now()"))
		b.do(one, stamp(sql.Postgres, "clock_timestamp()"), "COMMIT")
		b.comes(two, ok(0))
		b.is(one, "true", "SELECT until < "+sql.Micros(sql.Postgres, "clock_timestamp()")+" FROM slots WHERE lock_key = 1 AND num = 1")
	}},
	{"G6: lock_timeout is none, and aborts the transaction", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		b.is(two, "0", "SHOW lock_timeout")
		b.do(one, "BEGIN", lockRow)
		b.do(two, "SET lock_timeout = '1ms'", "BEGIN")
		b.fails(two, "55P03", takeRow)
		b.fails(two, "25P02", "SELECT 1")
	}},
	{"G8: a socket that is reset, and pg_terminate_backend, free rows and advisory locks", sql.Postgres, func(b *bench) {
		one, two, three := b.session(), b.session(), b.session()
		b.do(one, "BEGIN", lockRow, "SELECT pg_advisory_lock(hashtext('"+b.name+"'))")
		b.waits(two, takeRow)
		one.Cut()
		b.comes(two, ok(1))
		b.gone(one)
		b.is(two, "true", "SELECT pg_try_advisory_lock(hashtext('"+b.name+"'))")
		b.do(two, "BEGIN", lockRow)
		b.waits(three, takeRow)
		if err := b.db.Exec(b.Context(), "SELECT pg_terminate_backend("+b.value(two, "SELECT pg_backend_pid()")+")"); err != nil {
			b.Fatal(err)
		}
		b.comes(three, ok(1))
	}},
	{"G9: a statement that waited takes effect for a client that died", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		b.is(two, "0", "SHOW client_connection_check_interval")
		b.do(one, "BEGIN", lockRow)
		b.waits(two, takeRow)
		two.Cut()
		b.do(one, "ROLLBACK")
		b.gone(two)
		b.is(one, "7", tokenOf)
	}},
	{"G9: and does not with client_connection_check_interval", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		b.do(two, "SET client_connection_check_interval = '10ms'")
		b.do(one, "BEGIN", lockRow)
		b.waits(two, takeRow)
		two.Cut()
		b.gone(two) // the server ends session two while its statement still waits for the row
		b.do(one, "ROLLBACK")
		b.is(one, "0", tokenOf)
	}},
	{"G10: idle_in_transaction_session_timeout frees rows and advisory locks of a silent client; it is none", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		b.is(one, "0", "SHOW idle_in_transaction_session_timeout")
		b.is(one, "0", "SHOW idle_session_timeout")
		b.do(one, "SET idle_in_transaction_session_timeout = '500ms'", "BEGIN", "SELECT pg_advisory_lock(hashtext('"+b.name+"'))", lockRow)
		b.waits(two, takeRow)
		b.comes(two, ok(1))
		b.gone(one)
		b.is(two, "true", "SELECT pg_try_advisory_lock(hashtext('"+b.name+"'))")
	}},
	{"G10: but of a lock outside of a transaction only idle_session_timeout", sql.Postgres, func(b *bench) {
		one, two, three := b.session(), b.session(), b.session()
		b.do(one, "SET idle_in_transaction_session_timeout = '1ms'", "SELECT pg_advisory_lock(hashtext('"+b.name+"'))")
		b.do(three, "SET idle_in_transaction_session_timeout = '100ms'", "BEGIN", lockRow)
		b.gone(three) // session three reaches its limit; session one has a shorter one, but no transaction
		b.is(two, "false", "SELECT pg_try_advisory_lock(hashtext('"+b.name+"'))")
		b.do(one, "SET idle_session_timeout = '100ms'")
		b.gone(one)
		b.is(two, "true", "SELECT pg_try_advisory_lock(hashtext('"+b.name+"'))")
	}},
	{"G11: advisory locks of a session count, outlive transactions, and go with DISCARD ALL; a transaction's go with it", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		key := "hashtext('" + b.name + "')"
		try := "SELECT pg_try_advisory_lock(" + key + ")"
		b.is(one, "true", try)
		b.is(one, "true", try)
		b.do(one, "BEGIN", "ROLLBACK")
		b.is(one, "true", "SELECT pg_advisory_unlock("+key+")")
		b.is(two, "false", try)
		b.is(two, "false", "SELECT pg_advisory_unlock("+key+")")
		b.is(two, "true", "SELECT pg_try_advisory_lock(0, "+key+")") // the key (0, n) names another lock than the key n
		b.do(one, "DISCARD ALL")
		b.is(two, "true", try)
		b.do(two, "DISCARD ALL", "BEGIN", "SELECT pg_advisory_xact_lock("+key+")")
		b.is(one, "false", try)
		b.do(two, "ROLLBACK")
		b.is(one, "true", try)
	}},
	{"G12: behind a pooler of transactions an advisory lock is the pooled connection's: others have it too, and free it", sql.Postgres, func(b *bench) {
		pooled, err := b.db.Pooled(1)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = pooled.Close() })
		key := "hashtext('" + b.name + "')"
		client := func(query string) { // carries out a transaction on any free connection of the pool
			b.Helper()
			tx, err := pooled.BeginTx(b.Context(), nil)
			var yes bool
			if err == nil {
				err = errors.Join(tx.QueryRowContext(b.Context(), query).Scan(&yes), tx.Commit())
			}
			if err != nil || !yes {
				b.Fatalf("%s: %v, %v", query, yes, err)
			}
		}
		direct := b.session()
		client("SELECT pg_try_advisory_lock(" + key + ")")
		client("SELECT pg_try_advisory_lock(" + key + ")") // acquired again for another client, as both use one session
		b.is(direct, "false", "SELECT pg_try_advisory_lock("+key+")")
		client("SELECT pg_advisory_unlock(" + key + ")")
		client("SELECT pg_advisory_unlock(" + key + ")") // released once for each client
		b.is(direct, "true", "SELECT pg_try_advisory_lock("+key+")")
	}},
	{"G13: pgx asks for a cancellation when its socket breaks, so that nothing takes effect", sql.Postgres, func(b *bench) {
		one, two := b.session(), b.session()
		b.do(one, "BEGIN", lockRow)
		b.waits(two, takeRow)
		two.Hang()
		b.gone(two) // the server ends session two while its statement still waits for the row
		b.do(one, "ROLLBACK")
		b.is(one, "0", tokenOf)
	}},
}

// The simulated store treats vanished clients and a restart as measured on real servers. A waiting statement takes
// effect later, an idle transaction ends at once, and committed rows survive a restart.
func TestMeasuredSimulated(t *testing.T) {
	for _, d := range dialects {
		var s rowstore.Store
		s.Reset(d)
		seeds(func(table sql.Table, lock, num uint8) { s.Seed(table, lock, num, 0, 0) })
		one, two, three := s.Open(sql.ReadCommitted), s.Open(sql.ReadCommitted), s.Open(sql.ReadCommitted)
		apply := func(on uint8, c sql.Command, want sql.Code) {
			t.Helper()
			if got := s.Apply(on, &c); got.Code != want {
				t.Fatalf("%v, %s: expected %v, got %v", d, c.Text(d, 1), want, got)
			}
		}
		token := func(when string, want uint8) {
			t.Helper()
			if got, _, _ := s.Row(sql.Slots, 1, 1); got != want {
				t.Errorf("%v, %s: expected token %d, got %d", d, when, want, got)
			}
		}
		apply(one, begin, sql.OK)
		apply(one, lock1, sql.OK)
		apply(two, take1, sql.Blocked)
		s.Leave(two)
		token("M8, G9: the client is gone, and waits", 0)
		s.Leave(one)
		token("M7, G8: who had the row is gone, and who waited has it", 1)
		if s.Alive(one) || s.Alive(two) {
			t.Errorf("%v: sessions are there whose clients are gone", d)
		}
		apply(three, begin, sql.OK)
		apply(three, as(take1, 2, sql.Plain), sql.OK)
		s.Restart()
		token("M16: a restart, and what was not committed is not there", 1)
		one = s.Open(sql.ReadCommitted)
		apply(one, begin, sql.OK)
		apply(one, noWait1, sql.OK)
	}
}
