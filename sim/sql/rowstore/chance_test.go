package rowstore_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

// begun returns a store with two rows and two sessions. Each session has changed one row in a transaction, and the
// second waits for the first one's row.
func begun(d sql.Dialect) *rowstore.Store {
	var s rowstore.Store
	s.Reset(d)
	for num := range uint8(2) {
		s.Seed(sql.Slots, 1, num+1, 0, 0)
		s.Open(sql.ReadCommitted)
	}
	for on := range uint8(2) {
		s.Apply(on+1, &sql.Command{Verb: sql.Begin})
		s.Apply(on+1, grant(on+1))
	}
	s.Apply(2, grant(1))
	return &s
}

func grant(num uint8) *sql.Command {
	return &sql.Command{Verb: sql.Update, Table: sql.Slots, Lock: 1, Num: num, Rows: sql.One, Set: sql.Grant, Token: 1, Lease: 10}
}

// TestVictimsByChance: whichever transaction a deadlock aborts, the other ones continue, and the last one has changed
// its row. A choice in one store does not affect the store that it was cloned from.
func TestVictimsByChance(t *testing.T) {
	for _, d := range []sql.Dialect{sql.MariaDB, sql.Postgres} {
		for choice := range 2 {
			was := begun(d)
			s := was.Clone()
			s.Choose = func(among int) int { return choice % among }
			s.Apply(1, grant(2))
			if s.Waits(1) || s.Waits(2) {
				t.Errorf("%v, choice %d: somebody waits still", d, choice)
			}
			victim, other := s.Answer(1), s.Answer(2)
			if victim.Code != sql.Deadlock {
				victim, other = other, victim
			}
			if victim.Code != sql.Deadlock || (other != sql.Reply{Count: 1}) {
				t.Errorf("%v, choice %d: 1 is told %v, 2 %v", d, choice, s.Answer(1), s.Answer(2))
			}
			if !was.Waits(2) || was.Waits(1) {
				t.Errorf("%v: the clone's command was the store's", d)
			}
		}
	}
}

// TestAnswerInFailed: every command in a transaction that PostgreSQL has aborted gets the error that says so.
func TestAnswerInFailed(t *testing.T) {
	var s rowstore.Store
	s.Reset(sql.Postgres)
	s.Seed(sql.Slots, 1, 1, 0, 0)
	s.Open(sql.ReadCommitted)
	insert := sql.Command{Verb: sql.Insert, Table: sql.Slots, Lock: 1, Num: 1}
	for i, want := range []sql.Code{sql.OK, sql.Duplicate, sql.InFailed} {
		c := insert
		if i == 0 {
			c = sql.Command{Verb: sql.Begin}
		}
		if got := s.Apply(1, &c); got.Code != want || s.Answer(1) != got {
			t.Errorf("step %d: %v, and then %v; expected %v", i, got, s.Answer(1), want)
		}
	}
}

// TestRollbackBitByBit: on InnoDB, a session may continue after its wait for a row that a rollback removes, before the
// rollback releases its locks (FACTS M23). The session then waits for the next row, and keeps its lock on the gap. The
// session behind it waits for this lock.
func TestRollbackBitByBit(t *testing.T) {
	below := sql.Command{Verb: sql.Delete, Table: sql.Slots, Lock: 1, Num: 1, Rows: sql.Below}
	was := begun(sql.MariaDB)
	was.Apply(1, &sql.Command{Verb: sql.Rollback})
	was.Apply(2, &sql.Command{Verb: sql.Rollback})
	was.Apply(1, &sql.Command{Verb: sql.Begin})
	was.Apply(1, &sql.Command{Verb: sql.Insert, Table: sql.Slots, Lock: 1})
	was.Apply(1, grant(1))
	was.Open(sql.ReadCommitted)
	for on := range uint8(2) {
		was.Apply(on+2, &sql.Command{Verb: sql.Begin})
		was.Apply(on+2, &below)
	}
	for choice, waits := range []bool{false, true} { // by choice: whether session 2 waits
		s := was.Clone()
		s.Choose = func(among int) int { return min(choice, among-1) }
		s.Apply(1, &sql.Command{Verb: sql.Rollback})
		if s.Waits(2) != waits || s.Waits(3) {
			t.Errorf("choice %d: expected that 2 waits: %v; 2: %v, 3: %v", choice, waits, s.Answer(2), s.Answer(3))
		}
	}
}
