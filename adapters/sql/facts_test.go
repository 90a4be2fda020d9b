package databases_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/sql"
	"github.com/lockproof/lockproof/model/sql"
	"github.com/lockproof/lockproof/sim/sql/rowstore"
)

// fact is a measured fact about the servers: commands and their results, which must be the same on the simulated
// store and on the real server.
type fact struct {
	name  string
	on    []sql.Dialect
	level sql.Level
	steps []step
}

// step is a command and its result. session is the number of the session, from 1. Without a command, the step waits
// for the reply to the session's earlier command.
type step struct {
	session int
	command sql.Command
	want    sql.Reply
}

var both = []sql.Dialect{sql.MariaDB, sql.Postgres}

// The commands of the facts. The master row is row 0 of lock 1. Slots 1 and 2 of lock 1 exist, and are free.
var (
	begin    = sql.Command{Verb: sql.Begin}
	commit   = sql.Command{Verb: sql.Commit}
	rollback = sql.Command{Verb: sql.Rollback}
	none     = sql.Command{}

	lockMaster = sql.Command{Verb: sql.Select, Table: sql.Masters, Lock: 1, Rows: sql.One, Read: sql.ForUpdate}
	countAll   = sql.Command{Verb: sql.Count, Table: sql.Leases, Lock: 1}
	lease5     = sql.Command{Verb: sql.Insert, Table: sql.Leases, Lock: 1, Num: 5, Token: 5, Lease: hour}
	lease6     = sql.Command{Verb: sql.Insert, Table: sql.Leases, Lock: 1, Num: 6, Token: 6, Lease: hour}
	lookup9    = sql.Command{Verb: sql.Select, Table: sql.Leases, Lock: 1, Rows: sql.One, Num: 9, Read: sql.ForUpdate}
	insert9    = sql.Command{Verb: sql.Insert, Table: sql.Leases, Lock: 1, Num: 9, Token: 9, Lease: hour}
	take1      = sql.Command{Verb: sql.Update, Table: sql.Slots, Lock: 1, Rows: sql.One, Num: 1, Token: 1, Lease: hour}
	take2      = sql.Command{Verb: sql.Update, Table: sql.Slots, Lock: 1, Rows: sql.One, Num: 2, Token: 2, Lease: hour}
	lock1      = sql.Command{Verb: sql.Select, Table: sql.Slots, Lock: 1, Rows: sql.One, Num: 1, Read: sql.ForUpdate}
	lock2      = sql.Command{Verb: sql.Select, Table: sql.Slots, Lock: 1, Rows: sql.One, Num: 2, Read: sql.ForUpdate}
	again2     = sql.Command{Verb: sql.Insert, Table: sql.Slots, Lock: 1, Num: 2, Ignore: true}
	countSlots = sql.Command{Verb: sql.Count, Table: sql.Slots, Lock: 1}
	insert0    = sql.Command{Verb: sql.Insert, Table: sql.Slots, Lock: 1, Num: 0}
	delete1    = sql.Command{Verb: sql.Delete, Table: sql.Slots, Lock: 1, Rows: sql.One, Num: 1}
	none9      = sql.Command{Verb: sql.Update, Table: sql.Leases, Lock: 1, Rows: sql.One, Num: 9, Token: 9, Lease: hour}
	noWait1    = sql.Command{Verb: sql.Select, Table: sql.Slots, Lock: 1, Rows: sql.One, Num: 1, Read: sql.NoWait}
	skip       = sql.Command{Verb: sql.Select, Table: sql.Slots, Lock: 1, If: sql.Free, First: true, Read: sql.SkipLocked}
	claim      = sql.Command{Verb: sql.Claim, Table: sql.Slots, Lock: 1, If: sql.Free, Token: 3, Lease: hour}
)

func ok(count uint8) sql.Reply               { return sql.Reply{Count: count} }
func nums(count uint8, set uint32) sql.Reply { return sql.Reply{Count: count, Nums: set} }
func code(c sql.Code) sql.Reply              { return sql.Reply{Code: c} }

// below returns a command that locks the rows of the slots with a lower number than num.
func below(num uint8) sql.Command {
	return sql.Command{Verb: sql.Select, Table: sql.Slots, Lock: 1, Rows: sql.Below, Num: num, Read: sql.ForUpdate}
}

func as(c sql.Command, token uint8, read sql.Read) sql.Command {
	c.Token, c.Read = token, read
	return c
}

// facts are the measured facts, with their labels in sim/FACTS.md.
//
// M1, M2, M4 to M6, M19, M20, M22, G1, G2, G6, G7 are here. M1, M3, M7 to M15, M18, G1, G3 to G6, G8 to G13 are in
// TestMeasured. M16 and M17 are in TestFailover, and M16 also in TestMeasuredSimulated. H1 consists of M1 and M9. H2
// to H8 are locks with known bugs, which TestReplay carries out.
var facts = []fact{
	{"M1, G6: a transaction after NOWAIT: MariaDB keeps it, PostgreSQL aborts it", []sql.Dialect{sql.MariaDB}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {1, lock1, nums(1, 2)}, {2, begin, ok(0)}, {2, take2, ok(1)},
		{2, noWait1, code(sql.LockTimeout)}, {1, skip, nums(1, 2)}, {1, rollback, ok(0)},
		{1, skip, nums(1, 2)}, {2, commit, ok(0)}, {1, sql.Command{Verb: sql.Count, Table: sql.Slots, Lock: 1, If: sql.Owned, Token: 2}, ok(1)},
	}},
	{"G6: the same on PostgreSQL", []sql.Dialect{sql.Postgres}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {1, lock1, nums(1, 2)}, {2, begin, ok(0)}, {2, take2, ok(1)},
		{2, noWait1, code(sql.LockTimeout)}, {2, countAll, code(sql.InFailed)}, {1, take2, ok(1)},
		{2, commit, sql.Reply{RolledBack: true}}, {2, countAll, ok(0)},
	}},
	{"M2: whoever is told 1213 goes on in autocommit", []sql.Dialect{sql.MariaDB}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, take1, ok(1)}, {1, lease5, ok(1)}, {2, take2, ok(1)}, {1, take2, code(sql.Blocked)},
		{2, take1, code(sql.Deadlock)}, {1, none, ok(1)}, {2, lease6, ok(1)}, {2, rollback, ok(0)}, {1, rollback, ok(0)}, {1, countAll, ok(1)},
	}},
	{"G7: whoever is told 40P01 has an aborted transaction", []sql.Dialect{sql.Postgres}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, take1, ok(1)}, {2, take2, ok(1)}, {1, take2, code(sql.Blocked)},
		{2, take1, code(sql.Deadlock)}, {1, none, ok(1)}, {2, lease6, code(sql.InFailed)}, {2, rollback, ok(0)}, {1, commit, ok(0)},
	}},
	{"M20: the victim is who weighs less: a table in which nothing was found weighs as well", []sql.Dialect{sql.MariaDB}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, take1, ok(1)}, {2, none9, ok(0)}, {2, take2, ok(1)}, {1, take2, code(sql.Blocked)},
		{2, take1, ok(1)}, {1, none, code(sql.Deadlock)}, {2, rollback, ok(0)},
	}},
	{"M19: a row whose deletion is committed is none to who comes by at READ COMMITTED, whoever has it locked", []sql.Dialect{sql.MariaDB}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, delete1, ok(1)}, {2, lock1, code(sql.Blocked)}, {1, commit, ok(0)}, {2, none, nums(0, 0)},
		{1, lock1, nums(0, 0)}, {1, take1, ok(0)}, {2, rollback, ok(0)},
	}},
	{"M22: who has a row locks its gap behind those who wait: the circle has two victims", []sql.Dialect{sql.MariaDB}, sql.RepeatableRead, []step{
		{1, begin, ok(0)}, {1, lock1, nums(1, 2)}, {2, begin, ok(0)}, {2, lock2, nums(1, 4)}, {3, below(2), code(sql.Blocked)}, {2, insert0, code(sql.Blocked)},
		{1, below(3), nums(2, 6)}, {2, none, code(sql.Deadlock)}, {3, none, code(sql.Deadlock)}, {1, rollback, ok(0)},
	}},
	{"M22: and so it does with a shared lock", []sql.Dialect{sql.MariaDB}, sql.Serializable, []step{
		{1, begin, ok(0)}, {1, lock1, nums(1, 2)}, {2, begin, ok(0)}, {2, again2, ok(0)}, {3, below(2), code(sql.Blocked)}, {1, countSlots, ok(2)},
		{2, insert0, code(sql.Blocked)}, {1, below(3), nums(2, 6)}, {2, none, code(sql.Deadlock)}, {3, none, code(sql.Deadlock)}, {1, rollback, ok(0)},
	}},
	{"M4: what SKIP LOCKED passes over is merely looked at", both, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {1, lock1, nums(1, 2)}, {2, begin, ok(0)}, {2, skip, nums(1, 4)}, {2, commit, ok(0)}, {1, rollback, ok(0)},
		{2, begin, ok(0)}, {2, skip, nums(1, 2)}, {2, commit, ok(0)},
	}},
	{"M5: a missing key, REPEATABLE READ: both lock the gap, one insert waits, the other is a deadlock", []sql.Dialect{sql.MariaDB}, sql.RepeatableRead, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, lookup9, nums(0, 0)}, {2, lookup9, nums(0, 0)}, {1, insert9, code(sql.Blocked)},
		{2, insert9, code(sql.Deadlock)}, {1, none, ok(1)}, {1, commit, ok(0)},
	}},
	{"M5: a missing key, READ COMMITTED: no deadlock", both, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, lookup9, nums(0, 0)}, {2, lookup9, nums(0, 0)}, {1, insert9, ok(1)},
		{2, insert9, code(sql.Blocked)}, {1, commit, ok(0)}, {2, none, code(sql.Duplicate)}, {2, rollback, ok(0)},
	}},
	{"M6: count before the lock, REPEATABLE READ: the old snapshot is kept", []sql.Dialect{sql.MariaDB}, sql.RepeatableRead, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, countAll, ok(0)}, {2, countAll, ok(0)}, {1, lockMaster, nums(1, 1)}, {2, lockMaster, code(sql.Blocked)},
		{1, countAll, ok(0)}, {1, lease5, ok(1)}, {1, commit, ok(0)}, {2, none, nums(1, 1)}, {2, countAll, ok(0)}, {2, lease6, ok(1)}, {2, commit, ok(0)}, {1, countAll, ok(2)},
	}},
	{"M6: lock before the count: right", []sql.Dialect{sql.MariaDB}, sql.RepeatableRead, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, lockMaster, nums(1, 1)}, {2, lockMaster, code(sql.Blocked)},
		{1, countAll, ok(0)}, {1, lease5, ok(1)}, {1, commit, ok(0)}, {2, none, nums(1, 1)}, {2, countAll, ok(1)}, {2, commit, ok(0)},
	}},
	{"G1: lock, count, insert at READ COMMITTED: right", both, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, lockMaster, nums(1, 1)}, {2, lockMaster, code(sql.Blocked)},
		{1, countAll, ok(0)}, {1, lease5, ok(1)}, {1, commit, ok(0)}, {2, none, nums(1, 1)}, {2, countAll, ok(1)}, {2, commit, ok(0)},
	}},
	{"G1: at REPEATABLE READ: two granted, no error", []sql.Dialect{sql.Postgres}, sql.RepeatableRead, []step{
		{1, begin, ok(0)}, {2, begin, ok(0)}, {1, lockMaster, nums(1, 1)}, {2, lockMaster, code(sql.Blocked)},
		{1, countAll, ok(0)}, {1, lease5, ok(1)}, {1, commit, ok(0)}, {2, none, nums(1, 1)}, {2, countAll, ok(0)}, {2, lease6, ok(1)}, {2, commit, ok(0)}, {1, countAll, ok(2)},
	}},
	{"G2: a claim by a subselect waits, then overwrites", []sql.Dialect{sql.Postgres}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {1, claim, ok(1)}, {2, as(claim, 4, sql.Plain), code(sql.Blocked)}, {1, commit, ok(0)}, {2, none, ok(1)},
		{1, sql.Command{Verb: sql.Count, Table: sql.Slots, Lock: 1, If: sql.Owned, Token: 3}, ok(0)},
	}},
	{"G2: with FOR UPDATE in the subselect it is right", []sql.Dialect{sql.Postgres}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {1, as(claim, 3, sql.ForUpdate), ok(1)}, {2, as(claim, 4, sql.ForUpdate), code(sql.Blocked)}, {1, commit, ok(0)}, {2, none, ok(1)},
		{1, sql.Command{Verb: sql.Count, Table: sql.Slots, Lock: 1, If: sql.Owned, Token: 3}, ok(1)},
	}},
	{"G2: and with SKIP LOCKED, without a wait", []sql.Dialect{sql.Postgres}, sql.ReadCommitted, []step{
		{1, begin, ok(0)}, {1, as(claim, 3, sql.SkipLocked), ok(1)}, {2, as(claim, 4, sql.SkipLocked), ok(1)}, {1, commit, ok(0)},
		{1, sql.Command{Verb: sql.Count, Table: sql.Slots, Lock: 1, If: sql.Owned, Token: 3}, ok(1)},
	}},
}

// The measured facts hold on the simulated store and on the real servers.
func TestFacts(t *testing.T) {
	for _, d := range both {
		t.Run(d.String()+"/simulated", func(t *testing.T) {
			for _, f := range factsOf(d) {
				t.Run(f.name, func(t *testing.T) { f.simulated(t, d) })
			}
		})
		t.Run(d.String()+"/real", func(t *testing.T) {
			db := database(t, d)
			for i, f := range factsOf(d) {
				t.Run(f.name, func(t *testing.T) { f.real(t, db, 100*i) })
			}
		})
	}
}

func factsOf(d sql.Dialect) (all []fact) {
	for _, f := range facts {
		if f.on[0] == d || len(f.on) > 1 {
			all = append(all, f)
		}
	}
	return all
}

// sessions returns the number of sessions that the fact needs.
func (f *fact) sessions() (n int) {
	for _, p := range f.steps {
		n = max(n, p.session)
	}
	return n
}

// simulated checks the fact on the simulated store.
func (f *fact) simulated(t *testing.T, d sql.Dialect) {
	var s rowstore.Store
	s.Reset(d)
	seeds(func(table sql.Table, lock, num uint8) { s.Seed(table, lock, num, 0, 0) })
	for range f.sessions() {
		s.Open(f.level)
	}
	for i, p := range f.steps {
		s.Now++
		got := s.Answer(uint8(p.session))
		if p.command != none {
			got = s.Apply(uint8(p.session), &p.command)
		}
		if got != p.want {
			t.Fatalf("step %d: %s: expected %v, got %v", i+1, p.command.Text(d, 1), p.want, got)
		}
	}
}

// seeds calls row for each row that exists before a fact's first step.
func seeds(row func(table sql.Table, lock, num uint8)) {
	row(sql.Masters, 1, 0)
	row(sql.Slots, 1, 1)
	row(sql.Slots, 1, 2)
	for table := range sql.Tables {
		row(table, 3, 0) // a row of lock 3, which comes after the rows of lock 1
	}
}

// real checks the fact on a real server. offset is added to the numbers of its locks, so that facts do not share
// rows.
func (f *fact) real(t *testing.T, db *databases.Database, offset int) {
	seeds(func(table sql.Table, lock, num uint8) {
		c := sql.Command{Verb: sql.Insert, Table: table, Num: num}
		if err := db.Exec(t.Context(), c.Text(db.Dialect, offset+int(lock))); err != nil {
			t.Fatal(err)
		}
	})
	var sessions []*databases.Session
	for range f.sessions() {
		sessions = append(sessions, session(t, db, f.level))
	}
	if db.Dialect == sql.Postgres { // let only the session that completes a cycle of waits look for deadlocks
		if err := sessions[0].Set(t.Context(), "deadlock_timeout = '1h'"); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range f.steps {
		s := sessions[p.session-1]
		s.Offset = offset
		if p.command != none {
			s.Send(&p.command)
		}
		got := answer(t, s, p.want.Code == sql.Blocked)
		if got.RolledBack = p.want.RolledBack; got != p.want {
			t.Fatalf("step %d: %s: expected %v, got %v", i+1, p.command.Text(db.Dialect, 1), p.want, got)
		}
	}
}
